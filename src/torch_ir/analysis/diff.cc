#include "torch_ir/analysis/diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "torch_ir/analysis/diff_match.h"
#include "torch_ir/analysis/weights.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/tensor_text.h"

namespace torch_ir {
namespace {

// "float32 [1, 3, s0]", "int s0 + 1"
std::string form_text(const Value& value) {
  if (!value.is_scalar) return dtype_and_shape(value);
  return shape_text(value) + (value.expression.empty() ? "" : " " + value.expression);
}

// "[relu, weight]"
std::string names_text(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<std::string_view> names;
  for (const ValueId value : values) names.push_back(graph[value].name);
  return fmt::format("[{}]", fmt::join(names, ", "));
}

std::string results_text(const Graph& graph, const Node& node) {
  std::vector<std::string> forms;
  for (const ValueId output : node.outputs) forms.push_back(form_text(graph[output]));
  return fmt::format("{}", fmt::join(forms, ", "));
}

// For each of Node::inputs, its argument: "weight", or "indices[1]" for an item of a list. Empty if
// unknown.
std::vector<std::string> argument_names(const Node& node) {
  std::vector<std::string> names;
  for (const Argument& argument : node.arguments) {
    if (std::holds_alternative<ValueId>(argument.value)) names.push_back(argument.name);
    const auto* list = std::get_if<ValueList>(&argument.value);
    for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
      if ((*list)[i]) names.push_back(fmt::format("{}[{}]", argument.name, i));
    }
  }
  return names;
}

// A name and a text.
using Item = std::pair<std::string, std::string>;

struct Kinds {
  ChangeKind added;
  ChangeKind removed;
  ChangeKind changed;
};

Item range_item(const SymbolRange& range) {
  const auto limit = [](const std::optional<int64_t>& value) {
    return value ? std::to_string(*value) : "any";
  };
  return {range.expression, limit(range.min) + " to " + limit(range.max)};
}

Item output_item(const ConstantOutput& output) {
  return {"fixed output " + std::to_string(output.index), attribute_text(output.value)};
}

std::vector<Item> weight_items(const Program& program) {
  std::vector<Item> items;
  for_each_weight(program, [&](const GraphInput& weight) {
    const Value& value = program[weight.value];
    const std::string strides = fmt::format("{}", fmt::join(value.strides, ", "));
    std::string text = form_text(value);
    if (!strides.empty()) text += " with strides [" + strides + "]";
    if (value.requires_grad) text += " with requires_grad";
    for (const std::vector<std::string>& names : program.tied_weights) {
      const bool is_tied = std::ranges::find(names, weight.target) != names.end();
      if (is_tied) text += " tied as " + quoted_list(names);
    }
    items.emplace_back(weight.target, std::move(text));
  });
  return items;
}

// Placeholders with their weights. A weight without a placeholder is called by its own name.
std::vector<Item> weight_mapping(const Program& program) {
  std::vector<Item> items;
  for (const GraphInput& input : program.inputs) {
    const std::string& name = program[input.value].name;
    const bool is_weight = input.kind != InputKind::kUserInput;
    if (is_weight && name != input.target) items.emplace_back(name, input.target);
  }
  return items;
}

// The placeholders of `program` that `other` has too, or whose weight it has. All others are
// reported with their weight.
std::vector<Item> mapped_items(const Program& program, const Program& other) {
  std::unordered_set<std::string> known;
  for (const auto& [placeholder, weight] : weight_mapping(other)) {
    known.insert({placeholder, "weight " + weight});
  }
  std::vector<Item> items = weight_mapping(program);
  std::erase_if(items, [&](const Item& item) {
    return !known.contains(item.first) && !known.contains("weight " + item.second);
  });
  return items;
}

std::string element_text(const at::Tensor& tensor, int64_t index) {
  const at::Tensor element = tensor.flatten()[index];
  if (element.scalar_type() == at::kBool) return element.item<bool>() ? "True" : "False";
  if (element.scalar_type() == at::kDouble) return fmt::format("{}", element.item<double>());
  if (element.is_floating_point()) return fmt::format("{}", element.to(at::kFloat).item<float>());
  if (element.scalar_type() == at::kUInt64) return fmt::format("{}", element.item().toUInt64());
  if (!element.is_complex()) return fmt::format("{}", element.item<int64_t>());
  const c10::complex<double> value = element.item().toComplexDouble();
  return fmt::format("{}{:+}j", value.real(), value.imag());
}

std::vector<int64_t> place_of(int64_t index, c10::IntArrayRef sizes) {
  std::vector<int64_t> place(sizes.size());
  for (size_t d = sizes.size(); d-- > 0; index /= sizes[d]) place[d] = index % sizes[d];
  return place;
}

// ", by up to 0.5"; empty for what has no distances.
std::string distance_text(const at::Tensor& old, const at::Tensor& now) {
  if (old.is_complex() || old.scalar_type() == at::kBool) return "";
  const at::Tensor distances = now.to(at::kDouble).sub(old.to(at::kDouble)).abs();
  return fmt::format(", by up to {:.3g}", distances.nan_to_num().max().item<double>());
}

// Takes the weight that a placeholder has in `old`; a changed one is reported only once.
void set_weights(const Program& program, const Program& old, Origins& origins) {
  std::unordered_map<std::string, std::string> before;
  for (const Item& item : weight_mapping(old)) before.insert(item);
  for (const GraphInput& input : program.inputs) {
    if (input.kind == InputKind::kUserInput) continue;
    const auto known = before.find(program[input.value].name);
    origins[input.value] = "weight " + (known == before.end() ? input.target : known->second);
  }
}

Attribute with_origins(const Argument& argument, const Origins& origins) {
  size_t i = 0;
  return with_values(std::get<Attribute>(argument.value), [&](const ValueRef& value) -> Attribute {
    const std::string& origin = origins[argument.numbers.at(i++)];
    return origin.empty() ? value : ValueRef{origin};
  });
}

// The tensors of one name, shape and dtype that have other values.
void add_changed_values(ChangeKind kind, const StateDict& old, const StateDict& now,
                        GraphDiff& diff) {
  for (const auto& item : now) {
    const at::Tensor* before = old.find(item.key());
    if (before == nullptr || dtype_and_shape(*before) != dtype_and_shape(item.value())) continue;
    const auto [was, is] = tensors_text(*before, item.value());
    if (was == is) continue;
    diff.changes.push_back(
        {.kind = kind, .name = item.key(), .property = "values", .before = was, .after = is});
  }
}

class GraphComparer {
 public:
  GraphComparer(const Graph& old, const Graph& now, std::string place, GraphDiff& diff)
      : old_(old),
        new_(now),
        place_(std::move(place)),
        diff_(diff),
        old_origins_(old.values.size()),
        new_origins_(now.values.size()) {}

  void compare() {
    compare_inputs();
    compare_nodes();
    compare_outputs({}, {});
  }

  // As above, with what only the outermost graph has: weights and the like.
  void compare(const Program& old, const Program& now) {
    const auto quoted = [](const std::string& text) { return "'" + text + "'"; };
    compare(ChangeKind::kModelName, "", {}, quoted(old.model_name), quoted(now.model_name));
    compare(ChangeKind::kPytorchVersion, "", {}, quoted(old.torch_version),
            quoted(now.torch_version));
    compare_inputs();
    set_weights(old, old, old_origins_);
    set_weights(now, old, new_origins_);
    compare_tables(old, now);
    compare_nodes();
    compare_outputs(old.mutations, now.mutations);
  }

 private:
  Change& add(ChangeKind kind, std::string name, std::string property, std::string before,
              std::string after) {
    const bool is_rename = kind == ChangeKind::kOperatorRenamed || kind == ChangeKind::kModulePath;
    return (is_rename ? diff_.renames : diff_.changes)
        .emplace_back(Change{.kind = kind,
                             .graph = place_,
                             .name = std::move(name),
                             .property = std::move(property),
                             .before = std::move(before),
                             .after = std::move(after)});
  }

  void add(ChangeKind kind, const Node& node, std::string property, std::string before,
           std::string after) {
    add(kind, node.name, std::move(property), std::move(before), std::move(after)).op_type =
        node.target;
  }

  // `subject` is a node, or a name.
  template <class Subject>
  void compare(ChangeKind kind, const Subject& subject, std::string property, std::string before,
               std::string after) {
    if (before == after) return;
    add(kind, subject, std::move(property), std::move(before), std::move(after));
  }

  template <class Values, class MakeItem>
  void compare_items(const Values& old, const Values& now, const MakeItem& item,
                     const Kinds& kinds) {
    std::unordered_map<std::string, std::string> before;
    for (const auto& value : old) before.insert(item(value));
    for (const auto& value : now) {
      const Item after = item(value);
      const auto found = before.find(after.first);
      if (found == before.end()) {
        add(kinds.added, after.first, {}, {}, after.second);
      } else {
        compare(kinds.changed, after.first, {}, found->second, after.second);
        before.erase(found);
      }
    }
    for (const auto& value : old) {
      const Item gone = item(value);
      if (before.contains(gone.first)) add(kinds.removed, gone.first, {}, gone.second, {});
    }
  }

  void compare_tables(const Program& old, const Program& now) {
    const auto always = [](ChangeKind kind) { return Kinds{kind, kind, kind}; };
    compare_items(
        old.constant_inputs, now.constant_inputs,
        [](const auto& input) { return Item(input.first, attribute_text(input.second)); },
        always(ChangeKind::kConstantInput));
    compare_items(old.range_constraints, now.range_constraints, range_item,
                  always(ChangeKind::kRange));
    compare_items(
        old.guards, now.guards, [](const std::string& guard) { return Item(guard, "checked"); },
        always(ChangeKind::kGuard));
    compare_items(
        weight_items(old), weight_items(now), std::identity(),
        {ChangeKind::kWeightAdded, ChangeKind::kWeightRemoved, ChangeKind::kWeightChanged});
    compare_items(mapped_items(old, now), mapped_items(now, old), std::identity(),
                  always(ChangeKind::kWeightMapping));
    compare_items(
        old.constants, now.constants,
        [](const auto& constant) {
          return Item(constant.key(), dtype_and_shape(constant.value()));
        },
        {ChangeKind::kConstantAdded, ChangeKind::kConstantRemoved, ChangeKind::kConstantChanged});
    add_changed_values(ChangeKind::kConstantChanged, old.constants, now.constants, diff_);
  }

  // Pairs inputs by name, then renamed ones by position; returns the old input of each new one.
  std::vector<std::optional<size_t>> pair_inputs(const std::vector<ValueId>& old,
                                                 const std::vector<ValueId>& now) const {
    std::vector<std::optional<size_t>> old_of_new(now.size());
    std::vector<size_t> others;
    for (size_t i = 0; i < old.size(); ++i) {
      const auto same =
          std::ranges::find(now, old_[old[i]].name, [&](ValueId id) { return new_[id].name; });
      if (same == now.end()) {
        others.push_back(i);
      } else {
        old_of_new[static_cast<size_t>(same - now.begin())] = i;
      }
    }
    for (const size_t i : others) {
      if (i < now.size() && !old_of_new[i]) old_of_new[i] = i;
    }
    return old_of_new;
  }

  void compare_inputs() {
    const std::vector<ValueId> old = old_.user_inputs();
    const std::vector<ValueId> now = new_.user_inputs();
    const std::vector<std::optional<size_t>> old_of_new = pair_inputs(old, now);
    for (const ValueId input : old) old_origins_[input] = "removed input " + old_[input].name;
    for (size_t i = 0; i < now.size(); ++i) {
      const Value& after = new_[now[i]];
      new_origins_[now[i]] = "input " + after.name;
      if (!old_of_new[i]) {
        add(ChangeKind::kInputAdded, after.name, {}, {}, form_text(after));
        continue;
      }
      const size_t place = *old_of_new[i];
      old_origins_[old[place]] = new_origins_[now[i]];
      const Value& before = old_[old[place]];
      constexpr ChangeKind kChanged = ChangeKind::kInputChanged;
      compare(kChanged, after.name, "place", std::to_string(place), std::to_string(i));
      compare(kChanged, after.name, "name", before.name, after.name);
      compare(kChanged, after.name, {}, form_text(before), form_text(after));
    }
    for (size_t i = 0; i < old.size(); ++i) {
      if (std::ranges::find(old_of_new, std::optional(i)) != old_of_new.end()) continue;
      add(ChangeKind::kInputRemoved, old_[old[i]].name, {}, form_text(old_[old[i]]), {});
    }
  }

  void compare_nodes() {
    const NodeMatch match = match_nodes(old_, new_, old_origins_, new_origins_);
    if (place_.empty()) diff_.old_of_new = match.old_of_new;
    const std::vector<Node>& old_nodes = old_.nodes;
    const std::vector<Node>& new_nodes = new_.nodes;
    size_t next_old = 0;
    const auto report_removed = [&](size_t end) {
      for (; next_old < end; ++next_old) {
        if (match.new_of_old[next_old]) continue;
        const Node& node = old_nodes[next_old];
        add(ChangeKind::kOperatorRemoved, node, {}, results_text(old_, node), {});
      }
    };
    for (size_t i = 0; i < new_nodes.size(); ++i) {
      const auto& partner = match.old_of_new[i];
      if (!partner) {
        add(ChangeKind::kOperatorAdded, new_nodes[i], {}, {}, results_text(new_, new_nodes[i]));
        continue;
      }
      if (!match.is_moved[i]) report_removed(*partner);
      if (match.is_moved[i]) {
        add(ChangeKind::kOperatorMoved, new_nodes[i], "place", std::to_string(*partner),
            std::to_string(i));
      }
      compare_node(old_nodes[*partner], new_nodes[i]);
    }
    report_removed(old_nodes.size());
  }

  void compare_node(const Node& old, const Node& now) {
    compare(ChangeKind::kOperatorRenamed, "", {}, old.name, now.name);
    compare(ChangeKind::kModulePath, now, "module", old.origin.module, now.origin.module);
    compare(ChangeKind::kOperatorReplaced, now.name, {}, old.target, now.target);
    compare_attributes(old, now);
    compare_node_inputs(old, now);
    compare_results(old, now);
    compare_graphs(old, now);
  }

  void compare_attributes(const Node& old, const Node& now) {
    for (const Argument& argument : now.arguments) {
      const auto* after = std::get_if<Attribute>(&argument.value);
      const Attribute* before = old.find_attribute(argument.name);
      if (after == nullptr) continue;
      if (before != nullptr && with_origins(*old.find(argument.name), old_origins_) ==
                                   with_origins(argument, new_origins_)) {
        continue;
      }
      add(ChangeKind::kAttribute, now, argument.name,
          before == nullptr ? "" : attribute_text(*before), attribute_text(*after));
    }
    for (const Argument& argument : old.arguments) {
      const auto* before = std::get_if<Attribute>(&argument.value);
      if (before != nullptr && now.find_attribute(argument.name) == nullptr) {
        add(ChangeKind::kAttribute, now, argument.name, attribute_text(*before), {});
      }
    }
  }

  void compare_node_inputs(const Node& old, const Node& now) {
    const std::vector<ValueId> before = old.inputs();
    const std::vector<ValueId> after = now.inputs();
    if (before.size() != after.size()) {
      add(ChangeKind::kOperatorInputs, now, "inputs", names_text(old_, before),
          names_text(new_, after));
      return;
    }
    const std::vector<std::string> old_names = argument_names(old);
    const std::vector<std::string> new_names = argument_names(now);
    for (size_t i = 0; i < after.size(); ++i) {
      const std::string place = "input " + std::to_string(i);
      if (old.target == now.target && !old_names[i].empty() && !new_names[i].empty()) {
        compare(ChangeKind::kOperatorInputs, now, place, "as " + old_names[i],
                "as " + new_names[i]);
      }
      if (!is_same_origin(old_origins_[before[i]], new_origins_[after[i]])) {
        add(ChangeKind::kOperatorInputs, now, place, old_[before[i]].name, new_[after[i]].name);
      }
    }
  }

  void compare_results(const Node& old, const Node& now) {
    const bool is_only = old.outputs.size() == 1 && now.outputs.size() == 1;
    for (size_t i = 0; i < std::max(old.outputs.size(), now.outputs.size()); ++i) {
      compare(ChangeKind::kShape, now, is_only ? "result" : "result " + std::to_string(i),
              i < old.outputs.size() ? form_text(old_[old.outputs[i]]) : "",
              i < now.outputs.size() ? form_text(new_[now.outputs[i]]) : "");
    }
  }

  void compare_graphs(const Node& old, const Node& now) {
    for (size_t i = 0; i < std::min(old.graphs.size(), now.graphs.size()); ++i) {
      const std::string place = now.name + ", graph " + std::to_string(i);
      GraphComparer(old.graphs[i], now.graphs[i], place_.empty() ? place : place_ + ", " + place,
                    diff_)
          .compare();
    }
    compare(ChangeKind::kAttribute, now, "graphs", std::to_string(old.graphs.size()),
            std::to_string(now.graphs.size()));
  }

  using Mutations = std::vector<Mutation>;

  void compare_outputs(const Mutations& old_mutations, const Mutations& new_mutations) {
    const std::vector<ValueId>& old = old_.outputs;
    const std::vector<ValueId>& now = new_.outputs;
    const size_t num_both = std::min(old.size(), now.size());
    for (size_t i = 0; i < num_both; ++i) {
      const std::string place = "output " + std::to_string(i);
      if (!is_same_origin(old_origins_[old[i]], new_origins_[now[i]])) {
        add(ChangeKind::kOutputChanged, place, {}, old_[old[i]].name, new_[now[i]].name);
      }
      compare_mutated(place, find_mutated(old_mutations, i), find_mutated(new_mutations, i));
    }
    for (size_t i = num_both; i < now.size(); ++i) {
      add(ChangeKind::kOutputAdded, new_[now[i]].name, {}, {}, form_text(new_[now[i]]));
    }
    for (size_t i = num_both; i < old.size(); ++i) {
      add(ChangeKind::kOutputRemoved, old_[old[i]].name, {}, form_text(old_[old[i]]), {});
    }
    compare_items(
        old_.constant_outputs, new_.constant_outputs, output_item,
        {ChangeKind::kOutputAdded, ChangeKind::kOutputRemoved, ChangeKind::kOutputChanged});
  }

  // The placeholder or input whose new value the output is.
  static std::optional<ValueId> find_mutated(const Mutations& mutations, size_t output) {
    const auto found = std::ranges::find(mutations, output, &Mutation::output);
    return found == mutations.end() ? std::nullopt : std::optional(found->placeholder);
  }

  void compare_mutated(const std::string& place, std::optional<ValueId> before,
                       std::optional<ValueId> after) {
    if (!before && !after) return;
    if (before && after && is_same_origin(old_origins_[*before], new_origins_[*after])) return;
    add(ChangeKind::kOutputChanged, place, "new value of", before ? old_[*before].name : "nothing",
        after ? new_[*after].name : "nothing");
  }

  const Graph& old_;
  const Graph& new_;
  const std::string place_;
  GraphDiff& diff_;
  Origins old_origins_;
  Origins new_origins_;
};

}  // namespace

GraphDiff diff(const Program& old, const Program& now) {
  GraphDiff diff;
  GraphComparer(old, now, "", diff).compare(old, now);
  return diff;
}

std::pair<std::string, std::string> tensors_text(const at::Tensor& old, const at::Tensor& now) {
  const std::pair forms = {dtype_and_shape(old), dtype_and_shape(now)};
  if (forms.first != forms.second) return forms;
  const auto state = [](const at::Tensor& tensor) {
    return tensor.is_meta() ? "unknown" : "known";
  };
  if (old.is_meta() || now.is_meta() || old.numel() == 0) return {state(old), state(now)};
  const auto bytes = [](const at::Tensor& tensor) {
    const at::Tensor plain = tensor.resolve_conj().resolve_neg().contiguous();
    return plain.flatten().view(at::kByte).view({tensor.numel(), -1});
  };
  const auto is_nan = [](const at::Tensor& tensor) {
    return (tensor.is_complex() ? tensor : tensor.to(at::kDouble)).flatten().isnan();
  };
  if (bytes(old).equal(bytes(now))) return {};
  const at::Tensor differs = bytes(old)
                                 .ne(bytes(now))
                                 .any(1)
                                 .logical_and(is_nan(old).logical_and(is_nan(now)).logical_not());
  if (!differs.any().item<bool>()) return {};
  const auto first = differs.nonzero()[0].item<int64_t>();
  return {fmt::format("{} at [{}]", element_text(old, first),
                      fmt::join(place_of(first, old.sizes()), ", ")),
          fmt::format("{}, {} of {} elements differ{}", element_text(now, first),
                      differs.sum().item<int64_t>(), old.numel(), distance_text(old, now))};
}

void diff_weights(GraphDiff& diff, const StateDict& old, const StateDict& now) {
  add_changed_values(ChangeKind::kWeightChanged, old, now, diff);
}

}  // namespace torch_ir
