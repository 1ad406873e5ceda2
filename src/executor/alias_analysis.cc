#include "torch_ir/executor/alias_analysis.h"

#include <numeric>
#include <utility>

#include "torch_ir/executor/memory_overlap.h"
#include "torch_ir/executor/operator_effects.h"

namespace torch_ir {
namespace {

// Sets of values that may share memory (a disjoint-set forest with path halving).
class AliasSets {
 public:
  explicit AliasSets(size_t size) : parents_(size) {
    std::iota(parents_.begin(), parents_.end(), 0);
  }

  size_t find(size_t value) {
    while (parents_[value] != value) {
      parents_[value] = parents_[parents_[value]];
      value = parents_[value];
    }
    return value;
  }

  void unite(size_t a, size_t b) { parents_[find(a)] = find(b); }

 private:
  std::vector<size_t> parents_;
};

// Tied weights, and weights that are views of others.
void unite_overlapping_constants(const PlanGraph& graph, AliasSets& sets) {
  std::vector<size_t> ids;
  std::vector<at::Tensor> constants;
  for (size_t id = 0; id < graph.values.size(); ++id) {
    if (!graph.values[id].constant.defined()) continue;
    ids.push_back(id);
    constants.push_back(graph.values[id].constant);
  }
  const std::vector<size_t> groups = overlap_groups(constants);
  for (size_t i = 0; i < ids.size(); ++i) sets.unite(ids[i], ids[groups[i]]);
}

// For each value whether a value of its set is in `marked`.
std::vector<bool> spread(const std::vector<size_t>& marked, size_t size, AliasSets& sets) {
  std::vector<bool> roots(size, false);
  for (const size_t value : marked) roots[sets.find(value)] = true;
  std::vector<bool> spread(size);
  for (size_t value = 0; value < size; ++value) spread[value] = roots[sets.find(value)];
  return spread;
}

}  // namespace

AliasAnalysis analyze_aliases(const PlanGraph& graph) {
  const size_t size = graph.values.size();
  AliasSets sets(size);
  unite_overlapping_constants(graph, sets);
  std::vector<size_t> written;
  std::vector<std::vector<ValueId>> writes(graph.nodes.size());
  EffectsTable table;
  for (size_t index = 0; index < graph.nodes.size(); ++index) {
    const PlanNode& node = graph.nodes[index];
    const OperatorEffects& effects = table.of(node);
    for (size_t i = 0; i < node.arguments.size(); ++i) {
      if (!effects.writes[i] && !effects.shares[i]) continue;
      visit_values(node.arguments[i], [&](ValueId value) {
        if (effects.writes[i]) {
          written.push_back(value);
          writes[index].push_back(value);
        }
        if (!effects.shares[i]) return;
        for (const ValueId output : node.outputs) sets.unite(output, value);
      });
    }
  }
  std::vector<size_t> constants;
  for (size_t id = 0; id < size; ++id) {
    if (graph.values[id].constant.defined()) constants.push_back(id);
  }
  std::vector<size_t> memory(size);
  for (size_t id = 0; id < size; ++id) memory[id] = sets.find(id);
  return {spread(written, size, sets), spread(constants, size, sets), std::move(memory),
          std::move(writes)};
}

}  // namespace torch_ir
