// Folds the zeros that constant_pad_nd puts around images into the convolution or pooling that
// alone reads them. Models that come from TensorFlow pad before each, one side more than the other;
// if they are quantised, they round in between.
#include <ATen/core/enum_tag.h>
#include <ATen/ops/full.h>

#include <algorithm>

#include "torch_ir/fast/rules.h"

namespace torch_ir {

std::optional<Padding> padding_of(const TraceCall& call, size_t num_dims) {
  const CallArguments arguments(call);
  const auto source = arguments.tensor("self");
  const c10::IValue pad = arguments.value("pad");
  if (!source || !pad.isIntList() || num_dims < 3) return std::nullopt;
  const size_t dims = num_dims - 2;
  // Two for each dimension, the last one first.
  std::vector<int64_t> pads = pad.toIntVector();
  pads.resize(std::max(pads.size(), 2 * dims), 0);
  const bool is_spatial =
      std::ranges::all_of(pads.begin() + static_cast<std::ptrdiff_t>(2 * dims), pads.end(),
                          [](int64_t count) { return count == 0; }) &&
      std::ranges::all_of(pads, [](int64_t count) { return count >= 0; });
  if (!is_spatial) return std::nullopt;
  Padding padding{*source, {}, {}, arguments.number("value", 0)};
  for (size_t d = dims; d-- > 0;) {
    padding.before.push_back(pads[2 * d]);
    padding.after.push_back(pads[2 * d + 1]);
  }
  return padding;
}

namespace {

// The call that alone reads `id` and computes each element from one of it and numbers.
std::optional<size_t> elementwise_reader(const Trace& trace, const TraceFacts& facts, TensorId id) {
  const TraceTensor& from = trace.tensors[id];
  const auto reader = facts.only_reader(from.buffer);
  if (!reader) return std::nullopt;
  const TraceCall& call = trace.calls[*reader];
  const bool is_elementwise =
      call.fused == nullptr && call.outputs.size() == 1 &&
      (call.op.hasTag(at::Tag::pointwise) || call.name() == "aten::_to_copy");
  if (!is_elementwise || !std::holds_alternative<TensorId>(call.arguments[0])) return std::nullopt;
  const TraceTensor& to = trace.tensors[call.outputs[0]];
  const bool reads_numbers =
      std::all_of(call.arguments.begin() + 1, call.arguments.end(), [&](const auto& argument) {
        return tensors_of(argument).empty() || number_of(trace, argument);
      });
  const bool is_whole = is_contiguous(to) && to.sizes == from.sizes && trace.covers_buffer(to);
  return reads_numbers && is_whole ? reader : std::nullopt;
}

// What `call` makes of `value`.
at::Tensor result_for(const Trace& trace, const TraceCall& call, const at::Tensor& value) {
  torch::jit::Stack stack = {value};
  for (size_t i = 1; i < call.arguments.size(); ++i) {
    const auto* id = std::get_if<TensorId>(&call.arguments[i]);
    stack.push_back(id != nullptr ? c10::IValue(trace.tensors[*id].constant)
                                  : std::get<c10::IValue>(call.arguments[i]));
  }
  call.op.callBoxed(stack);
  return stack.at(0).toTensor();
}

// Pads what the elementwise calls after the padding at `index` make, not what they read.
void sink_padding(Trace& trace, size_t index) {
  const TraceFacts facts(trace);
  TraceCall& padding = trace.calls[index];
  const auto* source = std::get_if<TensorId>(&padding.arguments[0]);
  const auto number = number_of(trace, padding.arguments[2]);
  if (source == nullptr || !number || facts.is_written[trace.tensors[*source].buffer] ||
      !is_contiguous(trace.tensors[*source]) || !is_contiguous(trace.tensors[padding.outputs[0]])) {
    return;
  }
  at::Tensor value = at::full({1}, *number, trace.tensors[*source].dtype);
  TensorId made = *source;
  size_t last = index;
  while (const auto reader = elementwise_reader(trace, facts, padding.outputs[0])) {
    TraceCall& call = trace.calls[last = *reader];
    value = result_for(trace, call, value);
    TraceTensor unpadded = trace.tensors[made];
    unpadded.dtype = trace.tensors[call.outputs[0]].dtype;
    unpadded.offset = 0;
    unpadded.constant = at::Tensor();
    unpadded.buffer = trace.add_buffer(BufferKind::kIntermediate, bytes_of(unpadded));
    call.arguments[0] = made;
    made = trace.add(std::move(unpadded));
    std::swap(padding.outputs[0], call.outputs[0]);
    call.outputs[0] = made;
  }
  padding.arguments[0] = made;
  padding.arguments[2] = c10::IValue(value.item());
  const auto at = [&](size_t i) { return trace.calls.begin() + static_cast<std::ptrdiff_t>(i); };
  std::rotate(at(index), at(index + 1), at(last + 1));
}

}  // namespace

// LibTorch copies images that are channels last for some convolutions, which is padding by nothing.
std::optional<Replacement> fold_padding(TraceRewriter& rewriter, size_t index) {
  const TraceCall& pad = rewriter.call(index);
  const TensorId output = pad.outputs[0];
  const auto padding = pad.name() == "aten::clone"
                           ? std::optional(Padding{std::get<TensorId>(pad.arguments[0])})
                           : padding_of(pad, rewriter.tensor(output).sizes.size());
  const auto reader = rewriter.only_reader(output);
  if (!padding || !rewriter.is_value(padding->source) || !reader || !rewriter.is_open(*reader))
    return std::nullopt;
  const TraceCall& call = rewriter.call(*reader);
  const auto self = CallArguments(call).tensor("self");
  const RuleEntry* entry = find_entry(call);
  if (entry == nullptr || entry->padded_rule == nullptr || !self ||
      !rewriter.have_same_layout(*self, output)) {
    return std::nullopt;
  }
  auto replacement = entry->padded_rule(rewriter, *reader, *padding);
  if (!replacement) return std::nullopt;
  replacement->calls.insert(replacement->calls.begin(), index);
  replacement->emit = [emit = std::move(replacement->emit)] {
    const size_t taken = emit();
    return taken == 0 ? 0 : taken + 1;
  };
  return replacement;
}

Dims sum_of(Dims own, const Dims& padding) {
  for (size_t d = 0; d < padding.size(); ++d) own[d] += padding[d];
  return own;
}

void sink_paddings(Trace& trace) {
  for (size_t i = trace.calls.size(); i-- > 0;) {
    if (trace.calls[i].name() == "aten::constant_pad_nd") sink_padding(trace, i);
  }
}

}  // namespace torch_ir
