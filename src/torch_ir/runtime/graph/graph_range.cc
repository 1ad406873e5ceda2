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

bool GraphRange::writes_inputs() const {
  return std::ranges::any_of(inputs,
                             [this](const GraphPort& input) { return value(input).is_written; });
}

GraphRange whole_range(const LoweredGraph& graph) {
  return {.graph = &graph,
          .first = 0,
          .last = graph.nodes.size(),
          .inputs = graph.inputs,
          .outputs = graph.outputs,
          .is_whole = true};
}

RangeCutter::RangeCutter(const LoweredGraph& graph)
    : graph_(graph), read_until_(graph.values.size(), 0) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    visit_values(graph.nodes[i], [&](ValueId value) { read_until_[value] = i + 1; });
  }
  for (const GraphPort& output : graph.outputs) read_until_[output.value] = SIZE_MAX;
}

GraphRange RangeCutter::cut(size_t first, size_t last) const {
  GraphRange range{.graph = &graph_, .first = first, .last = last};
  std::unordered_set<ValueId> known;
  for (size_t i = first; i < last; ++i) {
    visit_values(graph_.nodes[i], [&](ValueId value) {
      if (!known.insert(value).second || graph_.values[value].is_fixed()) return;
      range.inputs.push_back(port_of(graph_, value));
      if (read_until_[value] <= last) range.released.push_back(value);
    });
    for (const ValueId output : graph_.nodes[i].outputs()) {
      known.insert(output);
      if (read_until_[output] > last) range.outputs.push_back(port_of(graph_, output));
    }
  }
  return range;
}

}  // namespace torch_ir
