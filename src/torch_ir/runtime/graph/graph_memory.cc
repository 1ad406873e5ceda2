#include "torch_ir/runtime/graph/graph_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/operators/operator_effects.h"
#include "torch_ir/operators/operator_table.h"
#include "torch_ir/runtime/graph/lowered_graph.h"
#include "torch_ir/runtime/graph/memory_overlap.h"

namespace torch_ir {
namespace {

// A disjoint-set forest with path halving: sets of values that may share memory.
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

std::vector<bool> spread(const std::vector<size_t>& marked, size_t size, AliasSets& sets) {
  std::vector<bool> roots(size, false);
  for (const size_t value : marked) roots[sets.find(value)] = true;
  std::vector<bool> spread(size);
  for (size_t value = 0; value < size; ++value) spread[value] = roots[sets.find(value)];
  return spread;
}

// Whether the elements of `tensor` are all elements of its storage.
bool fills_storage(const at::Tensor& tensor) {
  if (!tensor.has_storage() || tensor.numel() == 0) return true;
  return tensor.storage_offset() == 0 &&
         tensor.storage().nbytes() <= static_cast<size_t>(tensor.numel()) * tensor.element_size();
}

bool may_be_true(const NodeArgument& argument) {
  const auto* value = std::get_if<c10::IValue>(&argument);
  return value == nullptr || !value->isBool() || value->toBool();
}

}  // namespace

GraphMemory::GraphMemory(const LoweredGraph& graph) : writes_(graph.nodes.size()) {
  const size_t size = graph.values.size();
  AliasSets sets(size);
  std::vector<at::Tensor> constants;
  for (const LoweredValue& value : graph.values) constants.push_back(value.constant);
  const std::vector<size_t> groups = overlap_groups(constants);
  for (size_t id = 0; id < size; ++id) sets.unite(id, groups[id]);
  std::vector<size_t> written;
  EffectsTable table;
  for (size_t index = 0; index < graph.nodes.size(); ++index) {
    const LoweredNode& node = graph.nodes[index];
    // Only operators write; any other node may return its inputs.
    const auto* op = std::get_if<c10::OperatorHandle>(&node.callee);
    const OperatorEffects* effects =
        op == nullptr ? nullptr
                      : &table.of(*op, [&](size_t i) { return may_be_true(node.arguments[i]); });
    for (size_t i = 0; i < node.arguments.size(); ++i) {
      const bool is_written = effects != nullptr && effects->writes[i];
      const bool is_shared = effects == nullptr || effects->shares[i];
      if (!is_written && !is_shared) continue;
      visit_values(node.arguments[i], [&](ValueId value) {
        if (is_written) {
          written.push_back(value);
          writes_[index].push_back(value);
        }
        if (!is_shared) return;
        for (const ValueId output : node.outputs()) sets.unite(output, value);
      });
    }
    const bool is_handler =
        std::holds_alternative<std::shared_ptr<const OpHandlerCall>>(node.callee);
    if (!is_handler || operator_support(node.op_type()).is_supported) continue;
    if (!writes_by_name(node.op_type())) continue;
    visit_values(node, [&](ValueId value) { writes_[index].push_back(value); });
  }
  std::vector<size_t> defined;
  for (size_t id = 0; id < size; ++id) {
    if (constants[id].defined()) defined.push_back(id);
    is_partial_.push_back(constants[id].defined() && !fills_storage(constants[id]));
    memory_.push_back(sets.find(id));
  }
  is_written_ = spread(written, size, sets);
  may_be_constant_ = spread(defined, size, sets);
  for (std::vector<size_t>& of_node : writes_) {
    for (size_t& value : of_node) value = memory_[value];
  }
}

GraphMemory memory_of(const Case& graph_case) {
  return lower(graph_case, std::nullopt, Unsupported::kKeep).memory;
}

bool GraphMemory::is_written(size_t memory, size_t first, size_t last) const {
  return std::any_of(writes_.begin() + static_cast<std::ptrdiff_t>(first),
                     writes_.begin() + static_cast<std::ptrdiff_t>(last),
                     [&](const std::vector<size_t>& written) {
                       return std::ranges::find(written, memory) != written.end();
                     });
}

void check_storable(const Case& graph_case) {
  const Program& program = *graph_case.program;
  const StateDict& weights = graph_case.weights;
  const GraphMemory memory = memory_of(graph_case);
  const std::vector<std::string> names = weights.keys();
  const std::vector<size_t> groups = overlap_groups(weights.values());
  const auto fail = [](const Node& node, const std::string& what) {
    throw WeightError(fmt::format("node '{}' {}; a file of weights cannot store that",
                                  printable(node.name), what));
  };
  const auto check_write = [&](const Node& node, const std::string& written) {
    const auto place = std::ranges::find(names, written) - names.begin();
    for (size_t i = 0; i < names.size(); ++i) {
      const bool is_tied = std::ranges::any_of(program.tied_weights, [&](const auto& tied) {
        return std::ranges::count(tied, written) > 0 && std::ranges::count(tied, names[i]) > 0;
      });
      if (names[i] == written || is_tied || groups[i] != groups[place]) continue;
      fail(node, fmt::format("writes to '{}', which shares its memory with '{}'",
                             printable(written), printable(names[i])));
    }
  };
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    const Node& node = program.nodes[i];
    if (memory.written_by(i).empty() && !reads_storage(node)) continue;
    for (const GraphInput& input : program.inputs) {
      if (input.kind == InputKind::kUserInput) continue;
      const size_t place = memory.of(input.value);
      if (weights.contains(input.target) && memory.is_written(place, i, i + 1)) {
        check_write(node, input.target);
      }
      const bool is_read = reads_storage(node) && memory.is_partial(input.value) &&
                           std::ranges::any_of(node.inputs(), [&](ValueId read) {
                             return memory.of(read) == place;
                           });
      if (is_read) {
        fail(node, fmt::format("reads the storage of '{}', a part of a larger one",
                               printable(input.target)));
      }
    }
  }
}

}  // namespace torch_ir
