// What the fusion of quantised models and its kernels share.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "torch_ir/fast/rules.h"

namespace torch_ir {

// How numbers of a tensor are stored: as scale * (q - zero_point) for integers q from `low` to
// `high`, or as floats.
struct Steps {
  at::ScalarType dtype = at::kFloat;
  float scale = 1;
  // As eager rounds it; not always 1 / scale.
  float inverse_scale = 1;
  float zero_point = 0;
  float low = 0;
  float high = 0;

  bool is_float() const { return dtype == at::kFloat; }
  bool operator==(const Steps&) const = default;
};

struct Clip {
  float low = -kInfinity;
  float high = kInfinity;
};

// output = activation(clip(sum of sources))
struct Rescaling {
  // One or two.
  std::vector<Steps> sources;
  Steps output;
  Clip clip = {};
  std::optional<PostOp> activation = {};
};

PrimitivePtr make_rescale(const Rescaling& rescaling, std::vector<Layout> sources,
                          const Layout& output);

// Quantizes rows by numbers of the run. Inputs: floats; the inverse of the scale and the zero
// point, each one number or one for each row. Only the bounds and the dtype of `to` matter.
FusedCall quantize_rows(const Steps& to);

// output = activation(clip((sums - zero_point * weight_sums) * scale * scales + bias)). Inputs:
// sums [rows, columns] of int32; scale and zero point, each one number or one for each row;
// weight_sums (int32), scales and bias, each for each column.
FusedCall scale_rows(const Clip& clip, const std::optional<PostOp>& activation);

// What takes the place of a call.
struct QuantizedCall {
  // What it reads.
  std::vector<TensorId> sources;
  std::function<void(TraceRewriter& rewriter, size_t index)> emit = nullptr;
};
// By index in the trace.
using QuantizedCalls = std::unordered_map<size_t, QuantizedCall>;

bool is_byte(at::ScalarType dtype);

// Finds what dequantizes integers of 8 bits, computes and quantizes again, and drops the calls
// that nothing reads then. Runs after functionalize.
QuantizedCalls find_quantized(Trace& trace);

// Weights as integers, from what dequantize made of them: the float `weight` is
// values * scales[output], within a unit in the last place. Nothing if there are no such integers.
struct IntegerWeight {
  // Contiguous int8, of the same sizes.
  at::Tensor values;
  std::vector<double> scales;
  // The sums of the integers of each output.
  std::vector<int64_t> sums;
};
std::optional<IntegerWeight> integer_weight(const at::Tensor& weight);

// A tensor, and how its numbers are stored or to be stored.
struct Source {
  TensorId tensor;
  Steps steps;
  // What the run computes, as one number or one for each row: the scale, or for a quantize its
  // inverse; and the zero point, which may be known nevertheless.
  std::optional<TensorId> scale = {};
  std::optional<TensorId> zero_point = {};

  bool is_dynamic() const { return scale.has_value(); }
};

// A value computed from constants, and those.
struct Known {
  at::Tensor value;
  std::vector<at::Tensor> leaves;
};

// The arithmetic of quantised models in a trace, which has the operators that quantize and
// dequantize are made of, and weights that it has dequantized. So this looks for the arithmetic,
// not for the operators of an exporter.
class QuantizedPatterns {
 public:
  explicit QuantizedPatterns(Trace& trace);

  // --- The trace ---

  const TraceCall& call(size_t index) const { return trace_.calls[index]; }
  const TraceTensor& tensor(TensorId id) const { return trace_.tensors[id]; }
  TensorId output(size_t index) const { return trace_.calls[index].outputs[0]; }
  std::optional<TensorId> output_or_none(size_t index) const;
  // The memory of `id`, seen as `shape` sees its own; both are all of their memory.
  TensorId seen_as(TensorId id, TensorId shape);
  bool is_whole(TensorId id) const;
  bool is_contiguous(TensorId id) const { return torch_ir::is_contiguous(tensor(id)); }
  // The call that made `id` for one reader.
  std::optional<size_t> inner_maker(std::optional<TensorId> id) const;
  // The first argument of call `index`, if that is `name`, elementwise on one tensor.
  std::optional<TensorId> argument_of(std::optional<size_t> index, std::string_view name) const;
  // The second argument of call `index`, if the run computes it, as one number or one for each row.
  std::optional<TensorId> computed(size_t index) const;

  // --- Patterns ---

  // By the last call of each: (float(q) - zero_point) * scale.
  const std::unordered_map<size_t, Source>& all_dequantized() const { return dequantized_; }
  // What is dequantized as `id`.
  std::optional<Source> dequantized(TensorId id) const;
  // `id`, or the source of the call that pads it with zeros.
  Padding padded(TensorId id) const;
  // What call `index` quantizes, and its steps: clamp(round(x * inverse_scale) + zero_point).
  std::optional<Source> quantized_at(size_t index) const;
  // What `functions` are applied to by call `index`.
  std::optional<TensorId> before_functions(std::optional<size_t> index, PostOps& functions) const;
  // Walks back from `id` over functions that clip, and returns what they are applied to.
  TensorId before_clips(TensorId id, const Steps& steps, Clip& clip) const;
  std::optional<Known> known(std::optional<TensorId> id) const;

 private:
  BufferId buffer(TensorId id) const { return tensor(id).buffer; }
  std::optional<size_t> maker(TensorId id) const;
  bool set_steps(Source& source, size_t scaling, size_t shift, float Steps::* scale) const;
  std::optional<Source> dequantized_at(size_t index) const;
  std::optional<TensorId> rounded_before(TensorId id, const Steps& steps) const;

  Trace& trace_;
  // Of the original trace.
  TraceFacts facts_;
  std::unordered_map<size_t, Source> dequantized_;
};

// Whether `function` only clips; then narrows `clip` by it.
bool take_clip(const PostOp& function, Clip& clip);

// The layer at `index` from integers to `output`, which has `steps`, with all that is between.
std::optional<QuantizedCall> quantized_product(QuantizedPatterns& patterns, size_t index,
                                               std::optional<TensorId> output, const Steps& steps,
                                               const Clip& clip,
                                               const std::optional<Source>& addend);

// The layer that ends at `index`, of integers whose scale the run computes, to floats.
std::optional<QuantizedCall> dynamic_product(QuantizedPatterns& patterns, size_t index);

}  // namespace torch_ir
