#include "torch_ir/cases/node_groups.h"

#include <ATen/ops/scalar_tensor.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/suggestion.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/python_operators/quantized.h"
#include "torch_ir/runtime/graph/graph_memory.h"
#include "torch_ir/verifier/compare_nodes.h"

namespace torch_ir {
namespace {

[[noreturn]] void refuse(const NodeGroup& group, const std::string& problem) {
  throw Error(fmt::format("group '{}': {}", printable(group.name), problem));
}

void check_form(const NodeGroup& group, const ValueForm& form, const Value& value) {
  const auto fail = [&](const std::string& problem) {
    refuse(group, fmt::format("its value '{}' {}", printable(form.name), problem));
  };
  const size_t rank = value.shape.size();
  std::vector<int64_t> sorted = form.permutation;
  std::ranges::sort(sorted);
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] == static_cast<int64_t>(i)) continue;
    fail(fmt::format("has the invalid permutation [{}]", fmt::join(form.permutation, ", ")));
  }
  for (const size_t length : {form.permutation.size(), form.padding.size()}) {
    if (length == 0 || length == rank) continue;
    fail(fmt::format("has rank {}, but a permutation or padding of length {}", rank, length));
  }
  for (const auto& [before, behind] : form.padding) {
    if (before < 0 || behind < 0) fail("has negative padding");
  }
  const c10::ScalarType dtype = find_dtype(form.dtype).value_or(c10::ScalarType::Undefined);
  const bool is_unknown = !form.dtype.empty() && dtype == c10::ScalarType::Undefined;
  if (is_unknown) fail(fmt::format("has the unknown dtype '{}'", printable(form.dtype)));
  if (!form.scale) {
    if (form.zero_point != 0) fail("has a zero_point, but no scale");
    return;
  }
  if (!(*form.scale > 0) || std::isinf(*form.scale)) {
    fail("has a scale that is not positive and finite");
  }
  constexpr size_t kMostBytes = 4;
  const bool is_integer = c10::isIntegralType(dtype, /*includeBool=*/false);
  if (!is_integer || c10::elementSize(dtype) > kMostBytes) {
    fail("has a scale, but its dtype is not an integer of up to 32 bits");
  }
  if (!c10::isFloatingType(value.dtype)) {
    fail(fmt::format("has a scale, but its dtype in the graph is {}", dtype_name(value.dtype)));
  }
  // Beyond that, the difference of two steps would be lost in a double.
  if (!std::in_range<int32_t>(form.zero_point)) {
    fail(fmt::format("has the zero_point {}, which has more than 32 bits", form.zero_point));
  }
  const auto [low, high] = quantized_range(dtype);
  const auto zero_point = static_cast<double>(form.zero_point);
  const double greatest = std::max(high - zero_point, zero_point - low) * *form.scale;
  const auto held = at::scalar_tensor(greatest, c10::kDouble).to(value.dtype).item<double>();
  if (held == 0 || !std::isfinite(held)) {
    fail(fmt::format("has the scale {}, with which its greatest number is {} in {}", *form.scale,
                     held, dtype_name(value.dtype)));
  }
}

class Grouping {
 public:
  Grouping(const Program& program, const GraphMemory& memory, const std::vector<NodeGroup>& groups)
      : program_(program),
        groups_(groups),
        is_read_outside_(program.values.size()),
        is_handed_back_(program.values.size()) {
    assign();
    if (groups.empty()) return;
    check_values();
    add_reads();
    add_memory(memory);
  }

  GroupedGraph make() {
    GroupedGraph grouped{.program = program_};
    std::vector<Node>& nodes = grouped.program.nodes;
    nodes.clear();
    for (const size_t unit : in_order()) {
      const size_t first = nodes.size();
      for (const size_t node : units_[unit].nodes) {
        grouped.span_of.push_back(grouped.spans.size());
        grouped.original.push_back(node);
        nodes.push_back(program_.nodes[node]);
      }
      const NodeGroup* group = units_[unit].group;
      grouped.spans.push_back({first, nodes.size() - 1, group == nullptr ? "" : group->name});
    }
    set_uses(grouped.program);
    for (const ValueId value : compared_values(program_)) {
      if (is_seen(value)) {
        grouped.values.push_back(value);
      } else {
        grouped.inside.push_back(program_[value].name);
      }
    }
    return grouped;
  }

 private:
  // A group, or a node without one.
  struct Unit {
    const NodeGroup* group = nullptr;
    std::vector<size_t> nodes = {};
    std::set<size_t> needs = {};
  };

  void assign() {
    unit_of_.resize(program_.nodes.size(), SIZE_MAX);
    std::unordered_map<std::string_view, size_t> indices;
    for (size_t i = 0; i < program_.nodes.size(); ++i) indices.emplace(program_.nodes[i].name, i);
    std::unordered_set<std::string_view> names;
    for (const NodeGroup& group : groups_) {
      if (!names.insert(group.name).second) refuse(group, "duplicate name");
      if (group.nodes.empty()) refuse(group, "it has no nodes");
      Unit& unit = units_.emplace_back(Unit{&group});
      for (const std::string& name : group.nodes) {
        const auto found = indices.find(name);
        if (found == indices.end()) refuse_unknown(group, name);
        size_t& owner = unit_of_[found->second];
        if (owner == units_.size() - 1) {
          refuse(group, fmt::format("duplicate node '{}'", printable(name)));
        } else if (owner != SIZE_MAX) {
          refuse(group, fmt::format("the node '{}' is in the group '{}' too", printable(name),
                                    printable(units_[owner].group->name)));
        }
        owner = units_.size() - 1;
        unit.nodes.push_back(found->second);
      }
      std::ranges::sort(unit.nodes);
    }
    for (size_t i = 0; i < unit_of_.size(); ++i) {
      if (unit_of_[i] != SIZE_MAX) continue;
      unit_of_[i] = units_.size();
      units_.push_back({nullptr, {i}});
    }
  }

  [[noreturn]] void refuse_unknown(const NodeGroup& group, const std::string& name) const {
    std::vector<std::string> known;
    for (const Node& node : program_.nodes) known.push_back(node.name);
    refuse(group, fmt::format("the graph has no node '{}'{}", printable(name),
                              printable(suggest(name, known))));
  }

  void check_values() {
    for (size_t i = 0; i < groups_.size(); ++i) {
      for (const ValueForm& form : groups_[i].values) {
        const auto value = program_.find(form.name);
        const auto producer = value ? program_[*value].producer : std::nullopt;
        if (!producer || unit_of_[*producer] != i) {
          refuse(groups_[i],
                 fmt::format("none of its nodes makes the value '{}'", printable(form.name)));
        }
        check_form(groups_[i], form, program_[*value]);
        if (is_handed_back_[*value]) {
          refuse(groups_[i], fmt::format("duplicate value '{}'", printable(form.name)));
        }
        is_handed_back_[*value] = true;
      }
    }
    for (const ValueId output : program_.outputs) is_read_outside_[output] = true;
  }

  void add_reads() {
    for (ValueId value = 0; value < program_.values.size(); ++value) {
      const auto producer = program_[value].producer;
      if (!producer) continue;
      for (const size_t reader : program_[value].readers) {
        need(reader, *producer);
        if (unit_of_[reader] != unit_of_[*producer]) is_read_outside_[value] = true;
      }
    }
  }

  void need(size_t node, size_t needed) {
    if (unit_of_[node] != unit_of_[needed]) units_[unit_of_[node]].needs.insert(unit_of_[needed]);
  }

  // Keeps the order of each access to memory and the writes to that memory.
  void add_memory(const GraphMemory& memory) {
    struct Access {
      std::optional<size_t> writer;
      std::vector<size_t> readers;
    };
    std::unordered_map<size_t, Access> accesses;
    for (size_t i = 0; i < program_.nodes.size(); ++i) {
      const Node& node = program_.nodes[i];
      std::set<size_t> used;
      for (const ValueId input : node.inputs()) used.insert(memory.of(input));
      for (const ValueId output : node.outputs) used.insert(memory.of(output));
      for (const size_t place : used) {
        Access& access = accesses[place];
        if (access.writer) need(i, *access.writer);
        access.readers.push_back(i);
      }
      for (const size_t place : memory.written_by(i)) {
        Access& access = accesses[place];
        for (const size_t reader : access.readers) need(i, reader);
        access = {.writer = i, .readers = {}};
      }
    }
  }

  // Units whose needs come before them, otherwise in the order of their first nodes.
  std::vector<size_t> in_order() const {
    std::vector<std::vector<size_t>> readers(units_.size());
    std::vector<size_t> missing(units_.size());
    using Entry = std::pair<size_t, size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    const auto make_ready = [&](size_t unit) { ready.emplace(units_[unit].nodes.front(), unit); };
    for (size_t unit = 0; unit < units_.size(); ++unit) {
      missing[unit] = units_[unit].needs.size();
      for (const size_t needed : units_[unit].needs) readers[needed].push_back(unit);
      if (missing[unit] == 0) make_ready(unit);
    }
    std::vector<size_t> order;
    while (!ready.empty()) {
      order.push_back(ready.top().second);
      ready.pop();
      for (const size_t reader : readers[order.back()]) {
        if (--missing[reader] == 0) make_ready(reader);
      }
    }
    if (order.size() < units_.size()) refuse_cycle(missing);
    return order;
  }

  // Some units with missing needs are on a cycle, the others depend on one.
  [[noreturn]] void refuse_cycle(const std::vector<size_t>& missing) const {
    std::vector<size_t> path = {static_cast<size_t>(
        std::ranges::find_if(missing, [](size_t count) { return count > 0; }) - missing.begin())};
    while (std::ranges::count(path, path.back()) < 2) {
      path.push_back(*std::ranges::find_if(units_[path.back()].needs,
                                           [&](size_t it) { return missing[it] > 0; }));
    }
    path.erase(path.begin(), std::ranges::find(path, path.back()));
    // A graph has no cycle of its own.
    const size_t start =
        *std::ranges::find_if(path, [&](size_t unit) { return units_[unit].group != nullptr; });
    path.pop_back();
    std::ranges::rotate(path, std::ranges::find(path, start));
    std::string needs;
    for (size_t i = 1; i < path.size(); ++i) {
      const Unit& unit = units_[path[i]];
      const bool is_group = unit.group != nullptr;
      const std::string& name =
          is_group ? unit.group->name : program_.nodes[unit.nodes.front()].name;
      needs +=
          fmt::format("the {} '{}', which needs ", is_group ? "group" : "node", printable(name));
    }
    refuse(*units_[start].group,
           fmt::format("it has a cycle: it needs {}the group's results", needs));
  }

  bool is_seen(ValueId value) const {
    const Unit& unit = units_[unit_of_[program_[value].producer.value()]];
    return unit.nodes.size() == 1 || is_read_outside_[value] || is_handed_back_[value];
  }

  const Program& program_;
  const std::vector<NodeGroup>& groups_;
  std::vector<Unit> units_;
  std::vector<size_t> unit_of_;
  // By ValueId.
  std::vector<bool> is_read_outside_;
  std::vector<bool> is_handed_back_;
};

}  // namespace

std::vector<NodeGroup> groups_around(const Program& program,
                                     const std::vector<std::string>& inside) {
  std::vector<size_t> leader(program.nodes.size());
  std::iota(leader.begin(), leader.end(), 0);
  const auto leader_of = [&](size_t node) {
    while (leader[node] != node) node = leader[node] = leader[leader[node]];
    return node;
  };
  for (const std::string& name : inside) {
    const Value& value = program[program.find(name).value()];
    for (const uint32_t reader : value.readers) {
      const auto [first, last] =
          std::minmax({leader_of(reader), leader_of(value.producer.value())});
      leader[last] = first;
    }
  }
  std::vector<std::vector<std::string>> nodes_of(program.nodes.size());
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    nodes_of[leader_of(i)].push_back(program.nodes[i].name);
  }
  std::vector<NodeGroup> groups;
  for (std::vector<std::string>& nodes : nodes_of) {
    if (nodes.size() < 2) continue;
    const std::string_view between = nodes.size() == 2 ? " + " : " ... ";
    groups.push_back({nodes.front() + std::string(between) + nodes.back(), std::move(nodes)});
  }
  return groups;
}

GroupedGraph group_nodes(const Program& program, const GraphMemory& memory,
                         const std::vector<NodeGroup>& groups) {
  return Grouping(program, memory, groups).make();
}

}  // namespace torch_ir
