// Primitives of oneDNN, behind plain C++: the system's library itself, not LibTorch's copy of it.
//
// For the pass on traces. A layout says how a tensor of floats lies in memory; a primitive is made
// for layouts, never changes, and may be executed by several threads, each with an Execution of its
// own. What the library does not have, or has only as a slow reference, is null. Without the
// library `version` is nothing and there are no primitives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch_ir::onednn {

// "2.6.3"; nothing where torch-ir was built without oneDNN.
std::optional<std::string> version();

using Dims = std::vector<int64_t>;

class Layout {
 public:
  static Layout strided(const Dims& sizes, const Dims& strides);
  // The one that a primitive is fastest with.
  static Layout any(const Dims& sizes);
  // Of images, in blocks of so many channels, 8 or 16: those of one image lie one after another.
  static Layout blocked(const Dims& sizes, int64_t block);

  const Dims& sizes() const { return sizes_; }
  size_t bytes() const;
  // The channels in one block; nothing where it is no layout that `blocked` gives.
  std::optional<int64_t> block() const;
  // Tells it from all others, for tables.
  std::string key() const;
  // Whether each element lies at the same place.
  bool operator==(const Layout& other) const;

 private:
  friend struct LayoutAccess;
  Dims sizes_;
  std::shared_ptr<const void> descriptor_;
};

enum class Function {
  kClip,
  kGeluErf,
  kGeluTanh,
  kHardswish,
  kLogistic,
  kRelu,
  kSwish,
  kTanh,
};

enum class Binary { kAdd, kMultiply };

enum class Pooling { kMax, kAverage, kAverageWithPadding };

// What is done to each result before it is written.
struct PostOp {
  enum class Kind {
    // A function of it, with the numbers that it takes.
    kFunction,
    // What the output's memory held before is added.
    kSum,
  };
  Kind kind = Kind::kFunction;
  Function function = Function::kRelu;
  float alpha = 0;
  float beta = 0;
};

using PostOps = std::vector<PostOp>;

// A primitive with memory to run on, and nothing to do for a run but to run. One thread at a time.
class Execution {
 public:
  virtual ~Execution() = default;
  // The memory of an argument: the primitive's inputs in order, then its output and its scratchpad.
  virtual void set(size_t index, void* data) = 0;
  virtual void run() = 0;
};

class Primitive {
 public:
  virtual ~Primitive() = default;
  const std::string& name() const { return name_; }
  const std::vector<Layout>& inputs() const { return inputs_; }
  const Layout& output() const { return output_; }
  size_t scratchpad_bytes() const { return scratchpad_bytes_; }
  virtual std::unique_ptr<Execution> bind() const = 0;

 protected:
  // "convolution"
  std::string name_;
  std::vector<Layout> inputs_;
  Layout output_;
  size_t scratchpad_bytes_ = 0;
};

using PrimitivePtr = std::shared_ptr<const Primitive>;

// Inputs: source, weights, bias if there is one.
struct Convolution {
  Layout source;
  // With groups, one dimension more.
  Layout weights;
  std::optional<Layout> bias;
  Layout output;
  Dims strides;
  Dims padding;
  // One is none.
  Dims dilation;
  bool is_winograd = false;
  PostOps post_ops = {};
};
PrimitivePtr make_convolution(const Convolution& convolution);

// source [rows, k], weights [columns, k], output [rows, columns]; inputs as of a convolution.
PrimitivePtr make_inner_product(const Layout& source, const Layout& weights,
                                const std::optional<Layout>& bias, const Layout& output,
                                const PostOps& post_ops);

PrimitivePtr make_reorder(const Layout& from, const Layout& to);

// Output `any` follows the source.
PrimitivePtr make_pooling(Pooling pooling, const Layout& source, const Layout& output,
                          const Dims& kernel, const Dims& strides, const Dims& padding);

// The result is laid out as the first is.
PrimitivePtr make_binary(Binary binary, const Layout& first, const Layout& second,
                         const PostOps& post_ops);

}  // namespace torch_ir::onednn
