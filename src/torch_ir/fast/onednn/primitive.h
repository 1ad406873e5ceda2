// Primitives of oneDNN behind plain C++, from the system's library rather than LibTorch's copy. The
// rules of `fast` also define primitives of their own, which compute without the library.
//
// A layout says how a tensor of floats lies in memory. A primitive is immutable and made for given
// layouts; several threads may execute it, each with its own Execution. Makers return null if the
// library has no implementation or only a slow reference. None may be called
// without the library, whose `version` is nothing then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch_ir::onednn {

// "2.6.3"; nothing if torch-ir was built without oneDNN, or the library cannot be opened.
std::optional<std::string> version();

using Dims = std::vector<int64_t>;

class Layout {
 public:
  static Layout strided(const Dims& sizes, const Dims& strides);
  // The layout that a primitive is fastest with.
  static Layout any(const Dims& sizes);
  // Images with the channels of a pixel side by side.
  static Layout channels_last(const Dims& sizes);
  // Images with channels in blocks of 8 or 16; the blocks of one image are contiguous.
  static Layout blocked(const Dims& sizes, int64_t block);

  const Dims& sizes() const { return sizes_; }
  size_t bytes() const;
  // The block size, if the layout is one that `blocked` gives.
  std::optional<int64_t> block() const;
  // Nothing for a layout with blocks.
  std::optional<Dims> strides() const;
  std::string key() const;
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
  kLinear,
  kLogistic,
  kRelu,
  kSwish,
  kTanh,
};

enum class Binary { kAdd, kMultiply };

enum class Pooling { kAverage, kAverageWithPadding };

struct PostOp {
  enum class Kind {
    kFunction,
    // Adds the previous contents of the output's memory.
    kSum,
  };
  Kind kind = Kind::kFunction;
  Function function = Function::kRelu;
  float alpha = 0;
  float beta = 0;
};

using PostOps = std::vector<PostOp>;

// A primitive with its memory, ready to run. One thread at a time.
class Execution {
 public:
  virtual ~Execution() = default;
  // Sets the memory of an argument: the primitive's inputs in order, then its output and its
  // scratchpad.
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
  std::string name_;
  std::vector<Layout> inputs_;
  Layout output_;
  size_t scratchpad_bytes_ = 0;
};

using PrimitivePtr = std::shared_ptr<const Primitive>;

// Inputs: source, weights, bias if there is one.
struct Convolution {
  Layout source;
  // Has one more dimension with groups.
  Layout weights;
  std::optional<Layout> bias;
  Layout output;
  Dims strides;
  Dims padding_before;
  Dims padding_after;
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

struct Window {
  Dims kernel;
  Dims strides;
  Dims padding_before;
  Dims padding_after;
};

// Output `any` follows the source.
PrimitivePtr make_pooling(Pooling pooling, const Layout& source, const Layout& output,
                          const Window& window);

// The result has the layout of `first`.
PrimitivePtr make_binary(Binary binary, const Layout& first, const Layout& second,
                         const PostOps& post_ops);

}  // namespace torch_ir::onednn
