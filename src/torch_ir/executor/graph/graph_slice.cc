#include "torch_ir/executor/graph/graph_slice.h"

#include <c10/util/FunctionRef.h>

#include <cstdint>
#include <unordered_map>

#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

using Renumber = c10::function_ref<void(ValueId&)>;

void renumber_argument(NodeArgument& argument, Renumber renumber) {
  if (auto* use = std::get_if<ValueUse>(&argument)) {
    renumber(use->value);
  } else if (auto* list = std::get_if<ListArgument>(&argument)) {
    for (auto& item : list->items) {
      if (auto* use_of_item = std::get_if<ValueUse>(&item)) renumber(use_of_item->value);
    }
  } else if (auto* numbers = std::get_if<NumbersArgument>(&argument)) {
    for (ValueId& value : numbers->values) renumber(value);
  }
}

void renumber_node(LoweredNode& node, Renumber renumber) {
  for (NodeArgument& argument : node.arguments) renumber_argument(argument, renumber);
  for (ValueId& output : node.outputs) renumber(output);
  for (ValueId& unread : node.unread) renumber(unread);
}

// Numbers keep all their bits on the way through a tensor.
c10::ScalarType port_dtype(const LoweredValue& value) {
  if (value.constant.defined()) return value.constant.scalar_type();
  const c10::ScalarType dtype = parse_dtype(value.meta.dtype);
  return value.meta.is_scalar && c10::isFloatingType(dtype) ? c10::kDouble : dtype;
}

}  // namespace

GraphSlicer::GraphSlicer(const LoweredGraph& graph)
    : graph_(graph), read_until_(graph.values.size(), 0) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    visit_values(graph.nodes[i], [&](ValueId value) { read_until_[value] = i + 1; });
  }
  for (const GraphPort& output : graph.outputs) read_until_[output.value] = SIZE_MAX;
}

GraphSlice GraphSlicer::slice(size_t first, size_t last) const {
  GraphSlice slice;
  slice.graph.device = graph_.device;
  std::unordered_map<ValueId, ValueId> numbers;
  const auto add = [&](ValueId value) {
    const auto next = static_cast<ValueId>(slice.graph.values.size());
    const auto [number, is_new] = numbers.try_emplace(value, next);
    if (is_new) slice.graph.values.push_back(graph_.values[value]);
    return std::pair(number->second, is_new);
  };
  const auto port = [&](ValueId value) {
    return GraphPort{numbers.at(value), port_dtype(graph_.values[value])};
  };
  const auto add_input = [&](ValueId value) {
    const auto [number, is_new] = add(value);
    if (!is_new || graph_.values[value].is_fixed()) return;
    // The run has its own of a constant that is written.
    slice.graph.values[number].constant = at::Tensor();
    slice.inputs.push_back(value);
    slice.graph.inputs.push_back(port(value));
    slice.writes_inputs |= graph_.values[value].is_written;
    if (read_until_[value] <= last) slice.released.push_back(value);
  };
  for (size_t i = first; i < last; ++i) {
    LoweredNode node = graph_.nodes[i];
    visit_values(node, add_input);
    for (const ValueId output : node.outputs) add(output);
    renumber_node(node, [&](ValueId& value) { value = numbers.at(value); });
    slice.graph.nodes.push_back(std::move(node));
  }
  for (size_t i = first; i < last; ++i) {
    for (const ValueId output : graph_.nodes[i].outputs) {
      if (read_until_[output] <= last) continue;
      slice.outputs.push_back(output);
      slice.graph.outputs.push_back(port(output));
    }
  }
  return slice;
}

}  // namespace torch_ir
