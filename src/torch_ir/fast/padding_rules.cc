// Folds the zeros that constant_pad_nd puts around images into the convolution or pooling that
// alone reads them. Models that come from TensorFlow pad before each, one side more than the other.
#include <algorithm>

#include "torch_ir/fast/rules.h"

namespace torch_ir {
namespace {

using Replacement = TraceRewriter::Replacement;

// The spatial dimensions of what `index` pads; nothing if it also pads others, or cuts.
std::optional<Padding> padding_of(const TraceRewriter& rewriter, size_t index) {
  const TraceCall& call = rewriter.call(index);
  const CallArguments arguments(call);
  const auto source = arguments.tensor("self");
  const c10::IValue pad = arguments.value("pad");
  if (!source || !pad.isIntList() || !rewriter.is_value(*source) ||
      rewriter.tensor(*source).sizes.size() < 3) {
    return std::nullopt;
  }
  const size_t dims = rewriter.tensor(*source).sizes.size() - 2;
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

std::optional<Replacement> fold_padding(TraceRewriter& rewriter, size_t index) {
  const TensorId output = rewriter.call(index).outputs[0];
  const auto padding = padding_of(rewriter, index);
  const auto reader = rewriter.only_reader(output);
  if (!padding || !reader || !rewriter.is_open(*reader)) return std::nullopt;
  const TraceCall& call = rewriter.call(*reader);
  const auto self = CallArguments(call).tensor("self");
  const RuleEntry* entry = find_entry(c10::toString(call.op.operator_name()));
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

constexpr RuleEntry kPaddingRules[] = {{"aten::constant_pad_nd", &fold_padding}};

}  // namespace

onednn::Dims sum_of(onednn::Dims own, const onednn::Dims& padding) {
  for (size_t d = 0; d < padding.size(); ++d) own[d] += padding[d];
  return own;
}

RuleTable padding_rules() { return kPaddingRules; }

}  // namespace torch_ir
