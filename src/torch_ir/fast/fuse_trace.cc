// Optimizes traces with oneDNN and kernels of our own, which is the level `fast`.
//
// Convolutions and linear layers get prepacked weights and absorb the batch norms, additions and
// activations after them; calls between them keep the layouts that they are fastest with. Calls
// that neither makes faster stay as they are.
#include <ATen/Context.h>

#include "torch_ir/fast/quantized.h"
#include "torch_ir/fast/rules.h"
#include "torch_ir/runtime/graph/fast_level.h"

namespace torch_ir {

const RuleEntry* find_entry(std::string_view operator_name) {
  static const auto table = [] {
    std::unordered_map<std::string_view, const RuleEntry*> merged;
    for (const RuleTable rules : {convolution_rules(), linear_rules(), recurrent_rules(),
                                  carried_rules(), padding_rules(), transposed_rules()}) {
      for (const RuleEntry& entry : rules) merged.emplace(entry.operator_name, &entry);
    }
    return merged;
  }();
  const auto found = table.find(operator_name);
  return found == table.end() ? nullptr : found->second;
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

namespace {

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
    rewriter.plan(index, [&rewriter, &emit = call.emit, at = index] { emit(rewriter, at); });
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

}  // namespace torch_ir
