// The rules of the level `fast`, and the passes and helpers that they share.
//
// fuse_trace.cc has the table of operators and their rules. A rule leaves unknown calls unchanged.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/fast/trace_rewriter.h"
#include "torch_ir/runtime/graph/fast_level.h"

namespace torch_ir {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Turns in-place calls into functions: `relu_` of an intermediate value becomes `relu`, and later
// readers get its result. Only for calls that overwrite all of a value that the trace owns.
void functionalize(Trace& trace);

// Drops copies, whose readers then read the original, unless either is written to; padding by
// nothing is a copy. Also drops assertions about shapes and dtypes, which tracing has checked, and
// dropout in place outside training.
// Runs after functionalize.
void drop_needless_calls(Trace& trace);

// Makes sums contiguous that LibTorch lays out as a permuted operand, if only sums and layer norms
// read them: each norm would copy them first, and they could not be fused. Runs after
// functionalize.
void straighten_sums(Trace& trace);

// Copies the image that a convolution makes to channels last if its readers go through it pixel by
// pixel: layer norms, products and functions of pixels then read contiguous rows. A rule makes the
// copy with the convolution. Runs after functionalize and before drop_needless_calls.
void copy_to_rows(Trace& trace);

// x / sqrt(mean(x^2) + eps) * weight along the last dimension. Inputs: x and weight, contiguous.
FusedCall rms_norm(double eps);

// Replaces spelled-out functions by one call, so that they can be fused: Hugging Face writes the
// tanh form of GELU as eight operators, and the RMS norm as six. So is attention, also where
// LibTorch has a call for it. Runs after functionalize.
void recognize_functions(Trace& trace);

// "aten::add.Tensor"; empty for a fused call.
std::string name_of(const TraceCall& call);
inline bool is_call(const TraceCall& call, std::string_view name) { return name_of(call) == name; }

// The arguments of a call by the names of the operator's schema.
class CallArguments {
 public:
  explicit CallArguments(const TraceCall& call) : call_(call) {}

  // Empty unless the schema has the argument and it is a tensor.
  std::optional<TensorId> tensor(std::string_view name) const;
  std::vector<TensorId> tensors(std::string_view name) const;
  c10::IValue value(std::string_view name) const;
  // `count` numbers, repeating a single one; `missing` if the schema has no such argument.
  std::vector<int64_t> integers(std::string_view name, size_t count, int64_t missing) const;
  // NaN for a complex number.
  double number(std::string_view name, double missing) const;

 private:
  const TraceArgument* find(std::string_view name) const;

  const TraceCall& call_;
};

// An argument that is a number or a constant of one element, with at most one dimension; nothing
// if it is complex.
std::optional<double> number_of(const Trace& trace, const TraceArgument& argument);

// The source of a convolution or a pooling, with the padding that an earlier call adds to it.
struct Padding {
  TensorId source;
  // By spatial dimension; empty without such a call.
  Dims before = {};
  Dims after = {};
  double value = 0;
};

// What `call` pads, in spatial dimensions; nothing if it also pads others, or cuts.
std::optional<Padding> padding_of(const TraceCall& call, size_t num_dims);

// Moves paddings behind the elementwise calls after them, such as rounding.
void sink_paddings(Trace& trace);

// `own`, the padding of a convolution or a pooling, and `padding` around it.
Dims sum_of(Dims own, const Dims& padding);

// Max pooling that propagates NaN, which oneDNN's ignores. Null unless the source is in blocks of
// channels or channels last.
PrimitivePtr make_max_pool(const Layout& source, const Dims& sizes, const Window& window,
                           const Padding& padding);

using Rule = std::optional<Replacement>(TraceRewriter& rewriter, size_t index);
using PaddedRule = std::optional<Replacement>(TraceRewriter& rewriter, size_t index,
                                              const Padding& padding);

Rule fold_padding, replace_adaptive_average_pool, replace_addmm, replace_bilinear, replace_binary,
    replace_concatenation, replace_lstm, replace_mean, replace_mm, replace_nearest,
    replace_transposed;
PaddedRule replace_average_pool, replace_convolution, replace_max_pool;

// A step of a GRU, if it begins with the product at `index`.
Rule replace_gru_step;

// A scale by channel that does not follow a convolution, but whose input has the layout of one,
// becomes a depthwise 1x1 convolution.
Rule replace_channel_scale;

struct RuleEntry {
  std::string_view operator_name;
  // Null if the operator takes padding into its own.
  Rule* rule;
  PaddedRule* padded_rule = nullptr;
};

// Null if there is none.
const RuleEntry* find_entry(const TraceCall& call);

// The functions equal to a call of an activation or with a number; empty for other calls.
PostOps functions_of(const TraceCall& call);

// A batch norm in evaluation, or a product or a sum with a constant, as scale and shift by channel,
// in double precision; nothing for other calls.
struct ChannelScale {
  TensorId source = 0;
  at::Tensor scale;
  at::Tensor shift;
  // What both are computed from, and how.
  std::vector<at::Tensor> sources;
  std::string key;
};
std::optional<ChannelScale> channel_scale_of(const TraceRewriter& rewriter, size_t index);

// The calls after a call that can be fused with it.
struct Chain {
  // Includes the call itself, first.
  std::vector<size_t> calls;
  TensorId output;
  // The output of the call, or its copy in channels last: the layout of what the chain makes.
  TensorId made;
  PostOps post_ops = {};
  std::optional<TensorId> addend = {};
  std::optional<ChannelScale> norm = {};

  // What a weight and a bias with the norm are computed from, after a key of how.
  std::pair<std::string, std::vector<at::Tensor>> sources_of(const at::Tensor& weight,
                                                             const at::Tensor& bias) const;
  // A weight, whose outputs are dimension `dim`, and a bias, if there is one, with the norm.
  at::Tensor normed_weight(const at::Tensor& weight, size_t dim) const;
  at::Tensor normed_bias(const at::Tensor& bias) const;

  // The chain without the addition and what follows it; null without one.
  std::shared_ptr<const Chain> before_addition = nullptr;
};

struct ChainOptions {
  // Each result is contiguous with the same number of elements; otherwise, laid out as the first.
  bool is_contiguous = false;
  bool takes_norm = false;
  bool takes_addition = true;
  // Of the call itself, if it is one.
  std::optional<ChannelScale> norm = {};
};
Chain chain_after(const TraceRewriter& rewriter, size_t index, const ChainOptions& options);

// Removes and returns the last function of `post_ops` if our own kernel should apply it after the
// primitive (emit_activation): GELU, hardswish and SiLU, which are slower in oneDNN, and after
// Winograd's algorithm leaky ReLU and linear functions, which it does not support.
std::optional<PostOp> take_activation(PostOps& post_ops, bool is_winograd);
// Applies such a function in place.
void apply(const PostOp& activation, float* data, int64_t count);
void emit_activation(TraceRewriter& rewriter, const PostOp& activation, TensorId value,
                     size_t index);

struct Guard {
  // Weights and biases, which may be undefined.
  std::vector<at::Tensor> parameters = {};
  // The inputs before them.
  size_t num_sources = 1;
  bool is_winograd = false;
};
// `primitive`, which computes `chain`, made to throw NeedsExact for values that eager's arithmetic
// may treat otherwise; itself where it computes as eager does. Null if the parameters are such
// values.
PrimitivePtr guarded(const PrimitivePtr& primitive, const Chain& chain, const Guard& guard);

// Whether the addition may overwrite the addend, which nothing reads later.
bool may_sum(const TraceRewriter& rewriter, const Chain& chain, TensorId source);

// The sizes of a weight for the library: groups are a dimension of their own.
Dims grouped_sizes(at::IntArrayRef weight, int64_t groups);

TensorId packed_weight(TraceRewriter& rewriter, const at::Tensor& weight, const Layout& wanted);

// Measured: many weights leave the cache, and with so few rows oneDNN reads them faster as they are
// than packed.
inline bool keeps_weights(int64_t rows, int64_t num_weights) {
  return rows <= 3 && num_weights >= 1 << 19;
}

}  // namespace torch_ir
