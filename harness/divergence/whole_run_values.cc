#include "harness/divergence/whole_run_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/verifier/compare_nodes.h"

namespace torch_ir {
namespace {

// For a size that only a run knows.
constexpr int64_t kGuessedSize = 256;

int64_t bytes_of(const TensorMeta& meta) {
  auto bytes = static_cast<int64_t>(c10::elementSize(parse_dtype(meta.dtype)));
  for (const int64_t size : meta.shape) {
    if (__builtin_mul_overflow(bytes, size == kDynamicSize ? kGuessedSize : size, &bytes)) {
      return kMaxTensorBytes;
    }
  }
  return std::min(bytes, kMaxTensorBytes);
}

}  // namespace

WholeRunValues::WholeRunValues(Backend& backend, const IR& ir, const StateDict& weights,
                               const std::vector<at::Tensor>& inputs, const GraphMemory& memory,
                               Options options)
    : backend_(backend),
      weights_(weights),
      inputs_(inputs),
      options_(std::move(options)),
      ir_(ir),
      outputs_(ir.graph_outputs) {
  ir_.constant_outputs.clear();
  const std::vector<std::string> compared = compared_values(ir);
  const std::unordered_set<std::string_view> is_compared(compared.begin(), compared.end());
  for (size_t i = 0; i < ir.nodes.size(); ++i) {
    const OpNode& node = ir.nodes[i];
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      const auto place = memory.of(node.outputs[k].name);
      if (!is_compared.contains(node.outputs[k].name)) continue;
      if (place && memory.is_written(*place, i + 1, ir.nodes.size())) continue;
      Value value{node.outputs[k], bytes_of(node.outputs[k])};
      value.meta.producer_node = node.name;
      value.meta.producer_output_idx = static_cast<int64_t>(k);
      positions_.emplace(value.meta.name, values_.size());
      values_.push_back(std::move(value));
    }
  }
}

at::Tensor WholeRunValues::next(const std::string& name) {
  const auto position = positions_.find(name);
  if (position == positions_.end()) return {};
  auto found = pending_.find(name);
  if (found == pending_.end()) {
    run_from(position->second);
    found = pending_.find(name);
  }
  at::Tensor value = std::move(found->second);
  pending_.erase(found);
  return value;
}

void WholeRunValues::run_from(size_t position) {
  pending_.clear();
  // With its own outputs, so that it stays the graph that it is.
  ir_.graph_outputs = outputs_;
  std::unordered_map<std::string, size_t> places;
  for (size_t i = 0; i < outputs_.size(); ++i) places.emplace(outputs_[i].name, i);
  int64_t num_bytes = 0;
  size_t end = position;
  while (end < values_.size() &&
         (end == position || num_bytes + values_[end].num_bytes <= options_.max_bytes)) {
    num_bytes += values_[end].num_bytes;
    const TensorMeta& meta = values_[end++].meta;
    const bool is_new = places.emplace(meta.name, ir_.graph_outputs.size()).second;
    if (is_new) ir_.graph_outputs.push_back(meta);
  }
  if (options_.before_run) options_.before_run();
  std::vector<at::Tensor> results = backend_.run(ir_, weights_, inputs_);
  if (results.size() != ir_.graph_outputs.size()) {
    throw ExecutionError(fmt::format("{} output(s) came back, expected {}", results.size(),
                                     ir_.graph_outputs.size()));
  }
  for (size_t i = position; i < end; ++i) {
    const std::string& name = values_[i].meta.name;
    pending_[name] = results[places.at(name)];
  }
}

}  // namespace torch_ir
