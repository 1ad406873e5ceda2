#include <c10/util/accumulate.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "torch_ir/fast/quantized.h"

namespace torch_ir {
namespace {

// Whether the elements lie without gaps, in any order. A tensor without dimensions has no layout in
// oneDNN.
bool is_dense(const TraceTensor& tensor) {
  int64_t next = 1;
  return !tensor.sizes.empty() && std::ranges::all_of(dims_by_stride(tensor), [&](const auto& dim) {
    const bool follows = dim.first == next;
    next *= dim.second;
    return follows;
  });
}

}  // namespace

bool take_clip(const PostOp& function, Clip& clip) {
  const bool is_relu = function.function == Function::kRelu && function.alpha == 0;
  if (!is_relu && function.function != Function::kClip) return false;
  const float low = is_relu ? 0 : function.alpha;
  const float high = is_relu ? kInfinity : function.beta;
  clip = {std::max(std::min(low, clip.high), clip.low),
          std::max(std::min(high, clip.high), clip.low)};
  return true;
}

QuantizedPatterns::QuantizedPatterns(Trace& trace) : trace_(trace), facts_(trace) {
  for (size_t i = 0; i < trace.calls.size(); ++i) {
    if (const auto source = dequantized_at(i)) dequantized_.emplace(i, *source);
  }
}

std::optional<TensorId> QuantizedPatterns::output_or_none(size_t index) const {
  const auto& outputs = trace_.calls[index].outputs;
  return outputs.size() == 1 ? std::optional(outputs[0]) : std::nullopt;
}

TensorId QuantizedPatterns::seen_as(TensorId id, TensorId shape) {
  TraceTensor seen = tensor(shape);
  seen.buffer = buffer(id);
  seen.dtype = tensor(id).dtype;
  seen.offset = tensor(id).offset;
  return trace_.add(std::move(seen));
}

// The call that made all of the memory of `id`.
std::optional<size_t> QuantizedPatterns::maker(TensorId id) const {
  const BufferId of = buffer(id);
  if (of >= facts_.makers.size() || facts_.is_written[of] || !facts_.makers[of] ||
      trace_.buffers[of].kind != BufferKind::kIntermediate) {
    return std::nullopt;
  }
  const auto made = output_or_none(*facts_.makers[of]);
  return made && is_whole(*made) && is_whole(id) ? facts_.makers[of] : std::nullopt;
}

bool QuantizedPatterns::is_whole(TensorId id) const {
  return is_dense(tensor(id)) && trace_.covers_buffer(tensor(id));
}

std::optional<size_t> QuantizedPatterns::inner_maker(std::optional<TensorId> id) const {
  return id && facts_.is_inner(buffer(*id)) ? maker(*id) : std::nullopt;
}

std::optional<TensorId> QuantizedPatterns::computed(size_t index) const {
  const auto* id = std::get_if<TensorId>(&trace_.calls[index].arguments[1]);
  if (id == nullptr || tensor(*id).constant.defined() || facts_.is_written[buffer(*id)] ||
      !is_contiguous(*id) || !is_contiguous(output(index))) {
    return std::nullopt;
  }
  at::DimVector rows = tensor(output(index)).sizes;
  if (!rows.empty()) rows.back() = 1;
  const at::DimVector& sizes = tensor(*id).sizes;
  return c10::multiply_integers(sizes) == 1 || sizes == rows ? std::optional(*id) : std::nullopt;
}

std::optional<TensorId> QuantizedPatterns::argument_of(std::optional<size_t> index,
                                                       std::string_view name) const {
  if (!index || !is_call(trace_.calls[*index], name) || !output_or_none(*index)) {
    return std::nullopt;
  }
  const TraceCall& call = trace_.calls[*index];
  const auto* source = std::get_if<TensorId>(&call.arguments[0]);
  const bool is_elementwise = source != nullptr &&
                              are_alike(tensor(*source), tensor(output(*index))) &&
                              CallArguments(call).number("alpha", 1) == 1;
  return is_elementwise ? std::optional(*source) : std::nullopt;
}

// The numbers of the calls `scaling` and `shift`; false if they are none.
bool QuantizedPatterns::set_steps(Source& source, size_t scaling, size_t shift,
                                  float Steps::* scale) const {
  const auto factor = number_of(trace_, call(scaling).arguments[1]);
  const auto zero_point = number_of(trace_, call(shift).arguments[1]);
  source.steps.*scale = static_cast<float>(factor.value_or(1));
  source.steps.zero_point = static_cast<float>(zero_point.value_or(0));
  if (!factor) source.scale = computed(scaling);
  if (!zero_point) source.zero_point = computed(shift);
  return (factor || source.scale) && (zero_point || (source.scale && source.zero_point));
}

std::optional<Source> QuantizedPatterns::dequantized_at(size_t index) const {
  const auto sub = inner_maker(argument_of(index, "aten::mul.Tensor"));
  const auto shifted = argument_of(sub, "aten::sub.Tensor");
  const auto source = argument_of(inner_maker(shifted), "aten::_to_copy");
  if (!source || !is_byte(tensor(*source).dtype) || !is_dense(tensor(*source)) ||
      facts_.is_written[buffer(*source)] || tensor(*shifted).dtype != at::kFloat ||
      tensor(output(index)).dtype != at::kFloat) {
    return std::nullopt;
  }
  Source found{*source, {tensor(*source).dtype}};
  return set_steps(found, index, *sub, &Steps::scale) ? std::optional(found) : std::nullopt;
}

std::optional<Source> QuantizedPatterns::quantized_at(size_t index) const {
  const auto clipped = argument_of(index, "aten::_to_copy");
  if (!clipped || !is_byte(tensor(output(index)).dtype) || !is_whole(output(index))) {
    return std::nullopt;
  }
  const auto clamp = inner_maker(clipped);
  const auto add = inner_maker(argument_of(clamp, "aten::clamp"));
  const auto round = inner_maker(argument_of(add, "aten::add.Tensor"));
  const auto mul = inner_maker(argument_of(round, "aten::round"));
  const auto source = argument_of(mul, "aten::mul.Tensor");
  if (!source || tensor(*source).dtype != at::kFloat) return std::nullopt;
  Source found{*source, {tensor(output(index)).dtype}};
  if (!set_steps(found, *mul, *add, &Steps::inverse_scale)) return std::nullopt;
  const CallArguments bounds(trace_.calls[*clamp]);
  found.steps.low = static_cast<float>(bounds.number("min", -kInfinity));
  found.steps.high = static_cast<float>(bounds.number("max", kInfinity));
  const float least = found.steps.dtype == at::kChar ? -128 : 0;
  const bool fits = found.steps.low >= least && found.steps.high <= least + 255;
  return fits ? std::optional(found) : std::nullopt;
}

std::optional<Source> QuantizedPatterns::dequantized(TensorId id) const {
  const auto made = maker(id);
  const auto found = made ? dequantized_.find(*made) : dequantized_.end();
  return found == dequantized_.end() ? std::nullopt : std::optional(found->second);
}

Padding QuantizedPatterns::padded(TensorId id) const {
  const auto made = maker(id);
  if (!made || !is_call(trace_.calls[*made], "aten::constant_pad_nd")) return {id};
  const auto padding = padding_of(trace_.calls[*made], tensor(id).sizes.size());
  return padding && padding->value == 0 ? *padding : Padding{id};
}

// What is quantized in `steps` and dequantized again as `id`, for one reader. Exporters do so
// around each view.
std::optional<TensorId> QuantizedPatterns::rounded_before(TensorId id, const Steps& steps) const {
  const auto source = inner_maker(id) ? dequantized(id) : std::nullopt;
  const auto made = source && !source->is_dynamic() ? inner_maker(source->tensor) : std::nullopt;
  const auto before = made ? quantized_at(*made) : std::nullopt;
  const bool is_same = before && !before->is_dynamic() && before->steps == steps &&
                       source->steps.zero_point == steps.zero_point &&
                       std::abs(source->steps.scale * steps.inverse_scale - 1) < 1e-6F;
  return is_same ? std::optional(before->tensor) : std::nullopt;
}

std::optional<TensorId> QuantizedPatterns::before_functions(std::optional<size_t> index,
                                                            PostOps& functions) const {
  if (!index) return std::nullopt;
  functions = functions_of(trace_.calls[*index]);
  return functions.empty() ? std::nullopt : argument_of(index, name_of(trace_.calls[*index]));
}

TensorId QuantizedPatterns::before_clips(TensorId id, const Steps& steps, Clip& clip) const {
  for (;;) {
    if (const auto before = rounded_before(id, steps)) {
      id = *before;
      continue;
    }
    PostOps functions;
    const auto source = before_functions(inner_maker(id), functions);
    if (!source || functions.size() != 1 || !take_clip(functions[0], clip)) return id;
    id = *source;
  }
}

std::optional<Known> QuantizedPatterns::known(std::optional<TensorId> id) const {
  if (!id) return std::nullopt;
  const at::Tensor& constant = tensor(*id).constant;
  if (constant.defined()) return Known{constant, {constant}};
  const auto made = maker(*id);
  if (!made) return std::nullopt;
  const TraceCall& call = trace_.calls[*made];
  if (call.fused != nullptr || call.op.schema().is_mutable()) return std::nullopt;
  Known result;
  torch::jit::Stack stack;
  for (const TraceArgument& argument : call.arguments) {
    if (const auto* value = std::get_if<c10::IValue>(&argument)) {
      stack.push_back(*value);
      continue;
    }
    const auto* source = std::get_if<TensorId>(&argument);
    const auto value = source == nullptr ? std::nullopt : known(*source);
    if (!value) return std::nullopt;
    stack.emplace_back(value->value);
    result.leaves.insert(result.leaves.end(), value->leaves.begin(), value->leaves.end());
  }
  call.op.callBoxed(stack);
  const at::Tensor made_now = stack.at(0).toTensor();
  if (!has_layout(made_now, tensor(output(*made)))) return std::nullopt;
  result.value = made_now.as_strided(tensor(*id).sizes, tensor(*id).strides, tensor(*id).offset);
  return result;
}

}  // namespace torch_ir
