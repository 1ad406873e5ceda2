#include "torch_ir/analysis/diff.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "torch_ir/analysis/diff_match.h"
#include "torch_ir/analysis/diff_tables.h"
#include "torch_ir/analysis/diff_values.h"

namespace torch_ir {
namespace {

// Compares two graphs, and those inside them.
class GraphComparer {
 public:
  GraphComparer(const Values& old, const Values& now, std::string place, GraphDiff& diff)
      : old_(old), new_(now), place_(std::move(place)), diff_(diff) {}

  void compare_inputs() {
    const auto& old_inputs = old_.graph().graph_inputs;
    const auto& new_inputs = new_.graph().graph_inputs;
    for (size_t i = 0; i < old_inputs.size(); ++i) {
      if (const auto same = new_.input(old_inputs[i].name)) pair_inputs(i, *same);
    }
    // The same place under another name.
    for (size_t i = 0; i < std::min(old_inputs.size(), new_inputs.size()); ++i) {
      if (!new_of_old_input_.contains(i) && !old_of_new_input_.contains(i)) pair_inputs(i, i);
    }
    for (size_t i = 0; i < new_inputs.size(); ++i) {
      const auto old = old_of_new_input_.find(i);
      if (old == old_of_new_input_.end()) {
        add({.kind = ChangeKind::kInputAdded,
             .name = new_inputs[i].name,
             .after = form_text(new_inputs[i])});
      } else {
        compare_input(old->second, i);
      }
    }
    for (size_t i = 0; i < old_inputs.size(); ++i) {
      if (new_of_old_input_.contains(i)) continue;
      add({.kind = ChangeKind::kInputRemoved,
           .name = old_inputs[i].name,
           .before = form_text(old_inputs[i])});
    }
  }

  void compare_nodes() {
    match_ = match_nodes(
        old_.graph(), new_.graph(), [&](const std::string& name) { return old_external(name); },
        [&](const std::string& name) { return new_external(name); });
    const auto& old_nodes = old_.graph().nodes;
    const auto& new_nodes = new_.graph().nodes;
    size_t next_old = 0;
    const auto report_removed = [&](size_t end) {
      for (; next_old < end; ++next_old) {
        if (!match_.new_of_old[next_old])
          add_or_remove(ChangeKind::kOperatorRemoved, old_nodes[next_old]);
      }
    };
    for (size_t i = 0; i < new_nodes.size(); ++i) {
      const auto& partner = match_.old_of_new[i];
      if (!partner) {
        add_or_remove(ChangeKind::kOperatorAdded, new_nodes[i]);
        continue;
      }
      if (!match_.is_moved[i]) report_removed(*partner);
      compare_node(old_nodes[*partner], new_nodes[i], match_.is_moved[i]);
    }
    report_removed(old_nodes.size());
  }

  void compare_outputs() {
    const auto& old_outputs = old_.graph().graph_outputs;
    const auto& new_outputs = new_.graph().graph_outputs;
    const size_t num_both = std::min(old_outputs.size(), new_outputs.size());
    for (size_t i = 0; i < num_both; ++i) {
      const TensorMeta& before = old_outputs[i];
      const TensorMeta& after = new_outputs[i];
      const std::string place = "output " + std::to_string(i);
      if (!is_same_source(before.name, after.name)) {
        add({.kind = ChangeKind::kOutputChanged,
             .name = place,
             .before = before.name,
             .after = after.name});
      } else if (is_news(before, after)) {
        add({.kind = ChangeKind::kOutputChanged,
             .name = place,
             .property = after.name,
             .before = form_text(before),
             .after = form_text(after)});
      }
      if (before.mutates.empty() != after.mutates.empty() ||
          (!after.mutates.empty() && !is_same_source(before.mutates, after.mutates))) {
        add({.kind = ChangeKind::kOutputChanged,
             .name = place,
             .property = "new value of",
             .before = before.mutates.empty() ? "nothing" : before.mutates,
             .after = after.mutates.empty() ? "nothing" : after.mutates});
      }
    }
    for (size_t i = num_both; i < new_outputs.size(); ++i) {
      add({.kind = ChangeKind::kOutputAdded,
           .name = new_outputs[i].name,
           .after = form_text(new_outputs[i])});
    }
    for (size_t i = num_both; i < old_outputs.size(); ++i) {
      add({.kind = ChangeKind::kOutputRemoved,
           .name = old_outputs[i].name,
           .before = form_text(old_outputs[i])});
    }
    compare_constant_outputs();
  }

 private:
  void add(Change change) {
    change.graph = place_;
    diff_.changes.push_back(std::move(change));
  }

  void pair_inputs(size_t old, size_t now) {
    new_of_old_input_.emplace(old, now);
    old_of_new_input_.emplace(now, old);
  }

  void compare_input(size_t old, size_t now) {
    const TensorMeta& before = old_.graph().graph_inputs[old];
    const TensorMeta& after = new_.graph().graph_inputs[now];
    Change change = {.kind = ChangeKind::kInputChanged, .name = after.name};
    if (old != now) {
      change.property = "place";
      change.before = std::to_string(old);
      change.after = std::to_string(now);
      add(change);
    }
    if (before.name != after.name) {
      change.property = "name";
      change.before = before.name;
      change.after = after.name;
      add(change);
    }
    if (form_text(before) == form_text(after)) return;
    change.property = {};
    change.before = form_text(before);
    change.after = form_text(after);
    add(change);
  }

  // What a value is for both graphs where no node makes it; empty where one does.
  std::string old_external(const std::string& name) const {
    if (old_.producer(name) != nullptr) return {};
    if (const auto position = old_.input(name)) {
      const auto same = new_of_old_input_.find(*position);
      if (same == new_of_old_input_.end()) return "removed input " + name;
      return "input " + new_.graph().graph_inputs[same->second].name;
    }
    return "weight " + old_.weight(name);
  }
  std::string new_external(const std::string& name) const {
    if (new_.producer(name) != nullptr) return {};
    if (new_.input(name)) return "input " + name;
    // What the placeholder is now is told once, with the mapping.
    const bool is_in_both = old_.is_mapped(name) && new_.is_mapped(name);
    return "weight " + (is_in_both ? old_.weight(name) : new_.weight(name));
  }

  bool is_same_source(const std::string& old, const std::string& now) const {
    const Values::Producer* before = old_.producer(old);
    const Values::Producer* after = new_.producer(now);
    if (before == nullptr || after == nullptr) {
      return before == after && old_external(old) == new_external(now);
    }
    return match_.new_of_old[before->node] == after->node && before->output == after->output;
  }

  // Whether the form of a use differs in another way than that of the value where it is made.
  bool is_news(const TensorMeta& before, const TensorMeta& after) const {
    if (form_text(before) == form_text(after)) return false;
    const TensorMeta* old_source = old_.source(before.name);
    const TensorMeta* new_source = new_.source(after.name);
    if (old_source == nullptr || new_source == nullptr) {
      return !old_.is_mapped(before.name) || !new_.is_mapped(after.name) ||
             !is_told_by_weight(before, after);
    }
    return form_text(*old_source) != form_text(before) ||
           form_text(*new_source) != form_text(after);
  }

  // The forms of weights are compared with the list of weights.
  bool is_told_by_weight(const TensorMeta& before, const TensorMeta& after) const {
    return old_weights_ != nullptr && has_form(*old_weights_, old_.weight(before.name), before) &&
           has_form(*new_weights_, new_.weight(after.name), after);
  }

 public:
  using Weights = std::unordered_map<std::string_view, const TensorMeta*>;
  void set_weights(const Weights& old, const Weights& now) {
    old_weights_ = &old;
    new_weights_ = &now;
  }

 private:
  static bool has_form(const Weights& weights, const std::string& name, const TensorMeta& value) {
    const auto found = weights.find(name);
    return found != weights.end() && form_text(*found->second) == form_text(value);
  }

  void add_or_remove(ChangeKind kind, const OpNode& node) {
    std::string results;
    for (const TensorMeta& output : node.outputs) {
      results += (results.empty() ? "" : ", ") + form_text(output);
    }
    Change change = {.kind = kind, .name = node.name, .op_type = node.op_type};
    (kind == ChangeKind::kOperatorAdded ? change.after : change.before) = results;
    add(change);
  }

  void compare_node(const OpNode& old, const OpNode& now, bool is_moved) {
    if (old.name != now.name) diff_.renames.push_back({place_, old.name, now.name});
    if (is_moved)
      add({.kind = ChangeKind::kOperatorMoved, .name = now.name, .op_type = now.op_type});
    if (old.op_type != now.op_type) {
      add({.kind = ChangeKind::kOperatorReplaced,
           .name = now.name,
           .before = old.op_type,
           .after = now.op_type});
    }
    compare_attributes(old, now);
    compare_node_inputs(old, now);
    compare_results(old, now);
    compare_graphs(old, now);
  }

  // The attribute of an old node, with its values under their new names.
  Attribute in_new_names(const Attribute& attribute) const {
    return with_values(attribute, [&](const ValueRef& value) -> Attribute {
      const Values::Producer* producer = old_.producer(value.name);
      if (producer == nullptr) return value;
      const auto& partner = match_.new_of_old[producer->node];
      if (!partner) return value;
      const auto& outputs = new_.graph().nodes[*partner].outputs;
      return producer->output < outputs.size() ? ValueRef{outputs[producer->output].name} : value;
    });
  }

  void compare_attributes(const OpNode& old, const OpNode& now) {
    const auto report = [&](const std::string& name, const Attribute* before,
                            const Attribute* after) {
      add({.kind = ChangeKind::kAttribute,
           .name = now.name,
           .op_type = now.op_type,
           .property = name,
           .before = before == nullptr ? "" : text_of(*before),
           .after = after == nullptr ? "" : text_of(*after)});
    };
    for (const auto& [name, value] : now.attrs) {
      const Attribute* before = old.attrs.find(name);
      if (before == nullptr || !(in_new_names(*before) == value)) report(name, before, &value);
    }
    for (const auto& [name, value] : old.attrs) {
      if (now.attrs.find(name) == nullptr) report(name, &value, nullptr);
    }
  }

  // "[relu, weight]"
  static std::string names_text(const std::vector<TensorMeta>& values) {
    std::string text;
    for (const TensorMeta& value : values) text += (text.empty() ? "" : ", ") + value.name;
    return "[" + text + "]";
  }

  void compare_node_inputs(const OpNode& old, const OpNode& now) {
    Change change = {.kind = ChangeKind::kOperatorInputs, .name = now.name, .op_type = now.op_type};
    if (old.inputs.size() != now.inputs.size()) {
      change.property = "inputs";
      change.before = names_text(old.inputs);
      change.after = names_text(now.inputs);
      add(change);
      return;
    }
    for (size_t i = 0; i < now.inputs.size(); ++i) {
      const TensorMeta& before = old.inputs[i];
      const TensorMeta& after = now.inputs[i];
      change.property = "input " + std::to_string(i);
      change.kind = ChangeKind::kOperatorInputs;
      if (before.arg != after.arg) {
        change.before = before.arg.empty() ? "by place" : "as " + before.arg;
        change.after = after.arg.empty() ? "by place" : "as " + after.arg;
        add(change);
      }
      if (!is_same_source(before.name, after.name)) {
        change.before = before.name;
        change.after = after.name;
        add(change);
      } else if (is_news(before, after)) {
        change.kind = ChangeKind::kShape;
        change.before = form_text(before);
        change.after = form_text(after);
        add(change);
      }
    }
  }

  void compare_results(const OpNode& old, const OpNode& now) {
    for (size_t i = 0; i < std::max(old.outputs.size(), now.outputs.size()); ++i) {
      const std::string before = i < old.outputs.size() ? form_text(old.outputs[i]) : "";
      const std::string after = i < now.outputs.size() ? form_text(now.outputs[i]) : "";
      if (before == after) continue;
      const bool is_only = old.outputs.size() == 1 && now.outputs.size() == 1;
      add({.kind = ChangeKind::kShape,
           .name = now.name,
           .op_type = now.op_type,
           .property = is_only ? "result" : "result " + std::to_string(i),
           .before = before,
           .after = after});
    }
  }

  void compare_graphs(const OpNode& old, const OpNode& now) {
    const size_t num_both = std::min(old.graphs.size(), now.graphs.size());
    for (size_t i = 0; i < num_both; ++i) {
      const Values before(old.graphs[i], nullptr);
      const Values after(now.graphs[i], nullptr);
      const std::string place = now.name + ", graph " + std::to_string(i);
      GraphComparer inner(before, after, place_.empty() ? place : place_ + ", " + place, diff_);
      inner.compare_inputs();
      inner.compare_nodes();
      inner.compare_outputs();
    }
    if (old.graphs.size() == now.graphs.size()) return;
    add({.kind = ChangeKind::kAttribute,
         .name = now.name,
         .op_type = now.op_type,
         .property = "graphs",
         .before = std::to_string(old.graphs.size()),
         .after = std::to_string(now.graphs.size())});
  }

  void compare_constant_outputs() {
    std::map<int64_t, std::pair<std::string, std::string>> outputs;
    for (const ConstantOutput& output : old_.graph().constant_outputs) {
      outputs[output.index].first = text_of(output.value);
    }
    for (const ConstantOutput& output : new_.graph().constant_outputs) {
      outputs[output.index].second = text_of(output.value);
    }
    for (const auto& [index, values] : outputs) {
      if (values.first == values.second) continue;
      add({.kind = values.first.empty()    ? ChangeKind::kOutputAdded
                   : values.second.empty() ? ChangeKind::kOutputRemoved
                                           : ChangeKind::kOutputChanged,
           .name = "fixed output " + std::to_string(index),
           .before = values.first,
           .after = values.second});
    }
  }

  const Values& old_;
  const Values& new_;
  const std::string place_;
  GraphDiff& diff_;
  std::unordered_map<size_t, size_t> new_of_old_input_;
  std::unordered_map<size_t, size_t> old_of_new_input_;
  const Weights* old_weights_ = nullptr;
  const Weights* new_weights_ = nullptr;
  NodeMatch match_;
};

GraphComparer::Weights weights_by_name(const IR& ir) {
  GraphComparer::Weights weights;
  for (const TensorMeta& weight : ir.weights) weights.emplace(weight.name, &weight);
  return weights;
}

}  // namespace

GraphDiff diff(const IR& old, const IR& now) {
  GraphDiff diff;
  const auto compare_texts = [&](ChangeKind kind, const std::string& before,
                                 const std::string& after) {
    if (before == after) return;
    const auto quoted = [](const std::string& text) { return "'" + text + "'"; };
    diff.changes.push_back({.kind = kind, .before = quoted(before), .after = quoted(after)});
  };
  compare_texts(ChangeKind::kModelName, old.model_name, now.model_name);
  compare_texts(ChangeKind::kPytorchVersion, old.pytorch_version, now.pytorch_version);
  const Values old_values(old, &old.weight_name_mapping);
  const Values new_values(now, &now.weight_name_mapping);
  const GraphComparer::Weights old_weights = weights_by_name(old);
  const GraphComparer::Weights new_weights = weights_by_name(now);
  GraphComparer graphs(old_values, new_values, "", diff);
  graphs.set_weights(old_weights, new_weights);
  graphs.compare_inputs();
  compare_tables(old, now, diff);
  graphs.compare_nodes();
  graphs.compare_outputs();
  return diff;
}

}  // namespace torch_ir
