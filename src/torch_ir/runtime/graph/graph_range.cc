#include "torch_ir/runtime/graph/graph_range.h"

#include <algorithm>
#include <cstdint>
#include <unordered_set>

namespace torch_ir {
namespace {

// Integers keep all their bits in the tensor.
GraphPort port_of(const LoweredGraph& graph, ValueId id) {
  const LoweredValue& value = graph.values[id];
  if (value.constant.defined()) return {id, value.constant.scalar_type()};
  const c10::ScalarType dtype = value.declared->dtype;
  return {id, value.is_scalar() && c10::isFloatingType(dtype) ? c10::kDouble : dtype};
}

}  // namespace

GraphRange whole_range(const LoweredGraph& graph) {
  return {.graph = &graph,
          .first = 0,
          .last = graph.nodes.size(),
          .inputs = graph.inputs,
          .outputs = graph.outputs,
          .is_whole = true};
}

std::vector<size_t> find_last_reads(const LoweredGraph& graph) {
  std::vector<size_t> read_until(graph.values.size(), 0);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    visit_values(graph.nodes[i], [&](ValueId value) { read_until[value] = i + 1; });
  }
  for (const GraphPort& output : graph.outputs) read_until[output.value] = SIZE_MAX;
  return read_until;
}

GraphRange cut_range(const LoweredGraph& graph, const std::vector<size_t>& read_until, size_t first,
                     size_t last) {
  GraphRange range{.graph = &graph, .first = first, .last = last};
  std::unordered_set<ValueId> known;
  for (size_t i = first; i < last; ++i) {
    visit_values(graph.nodes[i], [&](ValueId value) {
      if (!known.insert(value).second || graph.values[value].is_fixed()) return;
      range.inputs.push_back(port_of(graph, value));
      if (read_until[value] <= last) range.released.push_back(value);
    });
    for (const ValueId output : graph.nodes[i].outputs()) {
      known.insert(output);
      if (read_until[output] > last) range.outputs.push_back(port_of(graph, output));
    }
  }
  return range;
}

}  // namespace torch_ir
