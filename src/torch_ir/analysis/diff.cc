#include "torch_ir/analysis/diff.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "torch_ir/analysis/diff_match.h"
#include "torch_ir/analysis/diff_tables.h"

namespace torch_ir {
namespace {

// "[relu, weight]"
std::string names_text(const std::vector<TensorMeta>& values) {
  std::string text;
  for (const TensorMeta& value : values) text += (text.empty() ? "" : ", ") + value.name;
  return "[" + text + "]";
}

std::string results_text(const OpNode& node) {
  std::string text;
  for (const TensorMeta& output : node.outputs) {
    text += (text.empty() ? "" : ", ") + form_text(output);
  }
  return text;
}

std::string argument_text(const TensorMeta& input) {
  return input.arg.empty() ? "by place" : "as " + input.arg;
}

// Compares two graphs, and those inside them.
class GraphComparer {
 public:
  GraphComparer(const Values& old, const Values& now, std::string place, GraphDiff& diff)
      : old_(old), new_(now), place_(std::move(place)), diff_(diff) {}

  void compare_inputs() {
    const auto& old_inputs = old_.graph().graph_inputs;
    const auto& new_inputs = new_.graph().graph_inputs;
    pair_inputs();
    for (size_t i = 0; i < new_inputs.size(); ++i) {
      const auto old = old_of_new_input_.find(i);
      if (old == old_of_new_input_.end()) {
        add(ChangeKind::kInputAdded, new_inputs[i].name, {}, {}, form_text(new_inputs[i]));
      } else {
        compare_input(old->second, i);
      }
    }
    for (size_t i = 0; i < old_inputs.size(); ++i) {
      if (new_of_old_input_.contains(i)) continue;
      add(ChangeKind::kInputRemoved, old_inputs[i].name, {}, form_text(old_inputs[i]), {});
    }
  }

  void compare_nodes() {
    match_ = match_nodes(
        old_, new_, [&](const std::string& name) { return old_external(name); },
        [&](const std::string& name) { return new_external(name); });
    const auto& old_nodes = old_.graph().nodes;
    const auto& new_nodes = new_.graph().nodes;
    size_t next_old = 0;
    const auto report_removed = [&](size_t end) {
      for (; next_old < end; ++next_old) {
        const OpNode& node = old_nodes[next_old];
        if (match_.new_of_old[next_old]) continue;
        add(ChangeKind::kOperatorRemoved, node, {}, results_text(node), {});
      }
    };
    for (size_t i = 0; i < new_nodes.size(); ++i) {
      const auto& partner = match_.old_of_new[i];
      if (!partner) {
        add(ChangeKind::kOperatorAdded, new_nodes[i], {}, {}, results_text(new_nodes[i]));
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
      compare_output("output " + std::to_string(i), old_outputs[i], new_outputs[i]);
    }
    for (size_t i = num_both; i < new_outputs.size(); ++i) {
      add(ChangeKind::kOutputAdded, new_outputs[i].name, {}, {}, form_text(new_outputs[i]));
    }
    for (size_t i = num_both; i < old_outputs.size(); ++i) {
      add(ChangeKind::kOutputRemoved, old_outputs[i].name, {}, form_text(old_outputs[i]), {});
    }
    compare_constant_outputs();
  }

 private:
  void add(ChangeKind kind, std::string name, std::string property, std::string before,
           std::string after) {
    diff_.changes.push_back({kind,
                             place_,
                             std::move(name),
                             {},
                             std::move(property),
                             std::move(before),
                             std::move(after)});
  }

  void add(ChangeKind kind, const OpNode& node, std::string property, std::string before,
           std::string after) {
    add(kind, node.name, std::move(property), std::move(before), std::move(after));
    diff_.changes.back().op_type = node.op_type;
  }

  // By name; then those in the same place under another name.
  void pair_inputs() {
    const auto pair = [&](size_t old, size_t now) {
      new_of_old_input_.emplace(old, now);
      old_of_new_input_.emplace(now, old);
    };
    const auto& old_inputs = old_.graph().graph_inputs;
    for (size_t i = 0; i < old_inputs.size(); ++i) {
      if (const auto same = new_.input(old_inputs[i].name)) pair(i, *same);
    }
    for (size_t i = 0; i < std::min(old_inputs.size(), new_.graph().graph_inputs.size()); ++i) {
      if (!new_of_old_input_.contains(i) && !old_of_new_input_.contains(i)) pair(i, i);
    }
  }

  void compare_input(size_t old, size_t now) {
    const TensorMeta& before = old_.graph().graph_inputs[old];
    const TensorMeta& after = new_.graph().graph_inputs[now];
    const auto compare = [&](const char* property, std::string was, std::string is) {
      if (was != is) {
        add(ChangeKind::kInputChanged, after.name, property, std::move(was), std::move(is));
      }
    };
    compare("place", std::to_string(old), std::to_string(now));
    compare("name", before.name, after.name);
    compare("", form_text(before), form_text(after));
  }

  void compare_output(const std::string& place, const TensorMeta& before, const TensorMeta& after) {
    if (!is_same_source(before.name, after.name)) {
      add(ChangeKind::kOutputChanged, place, {}, before.name, after.name);
    } else if (is_news(before, after)) {
      add(ChangeKind::kOutputChanged, place, after.name, form_text(before), form_text(after));
    }
    if (before.mutates.empty() && after.mutates.empty()) return;
    if (before.mutates.empty() || after.mutates.empty() ||
        !is_same_source(before.mutates, after.mutates)) {
      const auto text = [](const std::string& name) { return name.empty() ? "nothing" : name; };
      add(ChangeKind::kOutputChanged, place, "new value of", text(before.mutates),
          text(after.mutates));
    }
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
    return old_source == nullptr || new_source == nullptr ||
           form_text(*old_source) != form_text(before) ||
           form_text(*new_source) != form_text(after);
  }

  void compare_node(const OpNode& old, const OpNode& now, bool is_moved) {
    if (old.name != now.name) diff_.renames.push_back({place_, old.name, now.name});
    if (is_moved) add(ChangeKind::kOperatorMoved, now, {}, {}, {});
    if (old.op_type != now.op_type) {
      add(ChangeKind::kOperatorReplaced, now.name, {}, old.op_type, now.op_type);
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
    for (const auto& [name, value] : now.attrs) {
      const Attribute* before = old.attrs.find(name);
      if (before != nullptr && in_new_names(*before) == value) continue;
      add(ChangeKind::kAttribute, now, name, before == nullptr ? "" : text_of(*before),
          text_of(value));
    }
    for (const auto& [name, value] : old.attrs) {
      if (now.attrs.find(name) == nullptr) {
        add(ChangeKind::kAttribute, now, name, text_of(value), {});
      }
    }
  }

  void compare_node_inputs(const OpNode& old, const OpNode& now) {
    if (old.inputs.size() != now.inputs.size()) {
      add(ChangeKind::kOperatorInputs, now, "inputs", names_text(old.inputs),
          names_text(now.inputs));
      return;
    }
    for (size_t i = 0; i < now.inputs.size(); ++i) {
      const TensorMeta& before = old.inputs[i];
      const TensorMeta& after = now.inputs[i];
      const std::string place = "input " + std::to_string(i);
      if (before.arg != after.arg) {
        add(ChangeKind::kOperatorInputs, now, place, argument_text(before), argument_text(after));
      }
      if (!is_same_source(before.name, after.name)) {
        add(ChangeKind::kOperatorInputs, now, place, before.name, after.name);
      } else if (is_news(before, after)) {
        add(ChangeKind::kShape, now, place, form_text(before), form_text(after));
      }
    }
  }

  void compare_results(const OpNode& old, const OpNode& now) {
    const bool is_only = old.outputs.size() == 1 && now.outputs.size() == 1;
    for (size_t i = 0; i < std::max(old.outputs.size(), now.outputs.size()); ++i) {
      const std::string before = i < old.outputs.size() ? form_text(old.outputs[i]) : "";
      const std::string after = i < now.outputs.size() ? form_text(now.outputs[i]) : "";
      if (before == after) continue;
      add(ChangeKind::kShape, now, is_only ? "result" : "result " + std::to_string(i), before,
          after);
    }
  }

  void compare_graphs(const OpNode& old, const OpNode& now) {
    for (size_t i = 0; i < std::min(old.graphs.size(), now.graphs.size()); ++i) {
      const Values before(old.graphs[i], nullptr);
      const Values after(now.graphs[i], nullptr);
      const std::string place = now.name + ", graph " + std::to_string(i);
      GraphComparer inner(before, after, place_.empty() ? place : place_ + ", " + place, diff_);
      inner.compare_inputs();
      inner.compare_nodes();
      inner.compare_outputs();
    }
    if (old.graphs.size() == now.graphs.size()) return;
    add(ChangeKind::kAttribute, now, "graphs", std::to_string(old.graphs.size()),
        std::to_string(now.graphs.size()));
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
      const auto& [before, after] = values;
      if (before == after) continue;
      add(before.empty()  ? ChangeKind::kOutputAdded
          : after.empty() ? ChangeKind::kOutputRemoved
                          : ChangeKind::kOutputChanged,
          "fixed output " + std::to_string(index), {}, before, after);
    }
  }

  const Values& old_;
  const Values& new_;
  const std::string place_;
  GraphDiff& diff_;
  std::unordered_map<size_t, size_t> new_of_old_input_;
  std::unordered_map<size_t, size_t> old_of_new_input_;
  NodeMatch match_;
};

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
  const Values old_values(old, &old);
  const Values new_values(now, &now);
  GraphComparer graphs(old_values, new_values, "", diff);
  graphs.compare_inputs();
  compare_tables(old, now, diff);
  graphs.compare_nodes();
  graphs.compare_outputs();
  return diff;
}

}  // namespace torch_ir
