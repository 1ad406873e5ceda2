// Primitives of oneDNN behind plain C++, from the system's library rather than LibTorch's copy. The
// rules of `fast` also define primitives of their own, which compute without the library.
//
// A layout says how a tensor lies in memory, of floats unless it says otherwise. A primitive is
// immutable and made for given layouts; several threads may execute it, each with its own
// Execution. Makers return null if the library has no implementation or only a slow reference. None
// may be called without the library, whose `version` is nothing then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch_ir::onednn {

// "2.6.3"; nothing if torch-ir was built without oneDNN, or the library cannot be opened.
std::optional<std::string> version();

// Whether the library multiplies integers of 8 bits by instructions that add exactly. Other
// processors add pairs of products in 16 bits, which may overflow.
bool multiplies_bytes();

// Whether the processor multiplies bfloat16.
bool multiplies_bfloat16();

using Dims = std::vector<int64_t>;

enum class Type { kFloat, kBfloat16, kInt8, kUint8, kInt32 };

class Layout {
 public:
  static Layout strided(const Dims& sizes, const Dims& strides, Type type = Type::kFloat);
  // The layout that a primitive is fastest with.
  static Layout any(const Dims& sizes, Type type = Type::kFloat);
  // Images with the channels of a pixel side by side.
  static Layout channels_last(const Dims& sizes, Type type = Type::kFloat);
  // Images with channels in blocks of 8 or 16; the blocks of one image are contiguous.
  static Layout blocked(const Dims& sizes, int64_t block, Type type = Type::kFloat);

  const Dims& sizes() const { return sizes_; }
  Type type() const;
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

enum class Binary { kAdd, kMultiply, kSubtract };

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

// How a product of 8-bit integers becomes its output: by scales[channel], with the bias added
// before (scales_bias) or after.
struct Scaling {
  std::vector<float> scales;
  // Subtracted from the source; also what padding is filled with.
  int32_t source_zero_point = 0;
  // Of the previous contents of the output's memory, if they are added.
  float sum_scale = 1;
  Type sum_type = Type::kFloat;
};

// Whether the library scales the bias, too.
bool scales_bias();

// Runs a primitive on the memory of its inputs in order, its output and, if it has one, its
// scratchpad. One thread at a time.
using Execution = std::function<void(const std::vector<void*>& memory)>;

struct Primitive {
  // "onednn::convolution"
  std::string name;
  std::vector<Layout> inputs;
  Layout output;
  size_t scratchpad_bytes = 0;
  std::function<Execution()> bind = nullptr;
};

using PrimitivePtr = std::shared_ptr<const Primitive>;

// Inputs: source, weights, bias if there is one: of the type of the output, or floats for integers.
struct Convolution {
  Layout source;
  // Has one more dimension with groups.
  Layout weights;
  bool has_bias;
  Layout output;
  Dims strides;
  Dims padding_before;
  Dims padding_after;
  Dims dilation;
  bool is_winograd = false;
  PostOps post_ops = {};
  std::optional<Scaling> scaling = {};
};
PrimitivePtr make_convolution(const Convolution& convolution);

// source [rows, k], weights [columns, k], output [rows, columns], contiguous and of `type`; inputs
// as of a convolution.
PrimitivePtr make_inner_product(const Layout& source, const Layout& weights, bool has_bias,
                                Type type = Type::kFloat, const PostOps& post_ops = {},
                                const std::optional<Scaling>& scaling = std::nullopt);

PrimitivePtr make_reorder(const Layout& from, const Layout& to);

// A primitive that computes without the library.
PrimitivePtr make_own(const std::string& name, std::vector<Layout> inputs, const Layout& output,
                      const Execution& run);

struct Window {
  Dims kernel;
  Dims strides;
  Dims padding_before;
  Dims padding_after;
};

// Output `any` follows the source.
PrimitivePtr make_pooling(Pooling pooling, const Layout& source, const Layout& output,
                          const Window& window);

// Repeats each element, in sizes that are whole multiples. Output `any` follows the source.
PrimitivePtr make_repetition(const Layout& source, const Layout& output);

// The result has the layout of `first`.
PrimitivePtr make_binary(Binary binary, const Layout& first, const Layout& second,
                         const PostOps& post_ops);

}  // namespace torch_ir::onednn
