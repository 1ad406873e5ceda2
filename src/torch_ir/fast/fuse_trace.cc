// Optimizes traces with oneDNN and kernels of our own, which is the level `fast`.
//
// Convolutions and linear layers get prepacked weights and absorb the batch norms, additions and
// activations after them; calls between them keep the layouts that they are fastest with. Calls
// that neither makes faster stay as they are.
#include <ATen/Context.h>

#include <algorithm>

#include "torch_ir/fast/quantized.h"
#include "torch_ir/fast/rules.h"

namespace torch_ir {

namespace {

constexpr RuleEntry kRules[] = {
    {"aten::_adaptive_avg_pool2d", replace_adaptive_average_pool},
    {"aten::_convolution", replace_transposed},
    {"aten::_native_batch_norm_legit_no_training", replace_channel_scale},
    {"aten::_slow_conv2d_forward", nullptr, replace_convolution},
    {"aten::add.Tensor", replace_binary},
    {"aten::addmm", replace_addmm},
    {"aten::avg_pool2d", nullptr, replace_average_pool},
    {"aten::cat", replace_concatenation},
    {"aten::clone", fold_padding},
    {"aten::constant_pad_nd", fold_padding},
    {"aten::max_pool2d_with_indices", nullptr, replace_max_pool},
    {"aten::mean.dim", replace_mean},
    {"aten::mkldnn_convolution", nullptr, replace_convolution},
    {"aten::mkldnn_rnn_layer", replace_lstm},
    {"aten::mm", replace_mm},
    {"aten::mul.Tensor", replace_binary},
    {"aten::native_batch_norm", replace_channel_scale},
    {"aten::slow_conv3d_forward", nullptr, replace_convolution},
    {"aten::slow_conv_dilated2d", nullptr, replace_convolution},
    {"aten::slow_conv_transpose2d", replace_transposed},
    {"aten::sub.Tensor", replace_binary},
    {"aten::upsample_bilinear2d", replace_bilinear},
    {"aten::upsample_nearest2d", replace_nearest},
};

void fuse_trace(Trace& trace, PackedWeights& weights) {
  if (!at::globalContext().userEnabledMkldnn()) return;
  functionalize(trace);
  copy_to_rows(trace);
  drop_needless_calls(trace);
  straighten_sums(trace);
  recognize_functions(trace);
  const QuantizedCalls quantized = find_quantized(trace);
  TraceRewriter rewriter(trace, weights);
  for (const auto& [index, call] : quantized) {
    rewriter.plan({{index}, [&rewriter, &emit = call.emit, at = index] {
                     emit(rewriter, at);
                     return size_t{1};
                   }});
  }
  rewriter.run();
  weights.forget_unused();
}

TraceRewrite make_rewrite() {
  return [weights = PackedWeights()](Trace& trace) mutable { fuse_trace(trace, weights); };
}

const bool is_registered = [] {
  fast_level() = {onednn::version, make_rewrite};
  return true;
}();

}  // namespace

const RuleEntry* find_entry(const TraceCall& call) {
  const auto* found = std::ranges::find(kRules, name_of(call), &RuleEntry::operator_name);
  return found == std::end(kRules) ? nullptr : found;
}

at::Tensor PackedWeights::find_or_make(const std::string& key,
                                       const std::vector<at::Tensor>& sources,
                                       const std::function<at::Tensor()>& make) {
  std::string full_key = key;
  for (const at::Tensor& source : sources) {
    const void* data = source.defined() ? source.const_data_ptr() : nullptr;
    full_key.append(reinterpret_cast<const char*>(&data), sizeof(data));
    // Views of the same memory.
    if (!source.defined()) continue;
    for (const at::IntArrayRef numbers : {source.sizes(), source.strides()}) {
      full_key.append(reinterpret_cast<const char*>(numbers.data()),
                      numbers.size() * sizeof(int64_t));
    }
  }
  const auto [entry, is_new] = entries_.try_emplace(full_key);
  if (is_new) entry->second = {sources, make()};
  return entry->second.packed;
}

void PackedWeights::forget_unused() {
  std::erase_if(entries_, [](const auto& item) { return item.second.packed.use_count() == 1; });
}

}  // namespace torch_ir
