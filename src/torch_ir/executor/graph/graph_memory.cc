#include "torch_ir/executor/graph/graph_memory.h"

#include <algorithm>

#include "torch_ir/executor/graph/alias_analysis.h"
#include "torch_ir/executor/graph/bind_weights.h"
#include "torch_ir/executor/graph/lowered_graph.h"

namespace torch_ir {

GraphMemory::GraphMemory(const IR& ir, const StateDict& weights) {
  const BoundWeights bound = bind_weights(ir, weights, StateDict());
  const LoweredGraph graph = build_graph(ir, bound);
  const AliasAnalysis aliases = analyze_aliases(graph);
  for (size_t id = 0; id < graph.values.size(); ++id) {
    memories_.emplace(graph.values[id].meta.name, aliases.memory[id]);
  }
  for (const std::vector<ValueId>& written : aliases.writes) {
    std::vector<size_t>& memories = writes_.emplace_back();
    for (const ValueId value : written) memories.push_back(aliases.memory[value]);
  }
}

std::optional<size_t> GraphMemory::of(const std::string& name) const {
  const auto found = memories_.find(name);
  return found == memories_.end() ? std::nullopt : std::optional(found->second);
}

bool GraphMemory::is_written(size_t memory, size_t first, size_t last) const {
  return std::any_of(writes_.begin() + static_cast<std::ptrdiff_t>(first),
                     writes_.begin() + static_cast<std::ptrdiff_t>(last),
                     [&](const std::vector<size_t>& written) {
                       return std::ranges::find(written, memory) != written.end();
                     });
}

}  // namespace torch_ir
