#include "torch_ir/analysis/diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "torch_ir/analysis/diff_match.h"
#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

// "float32 [1, 3, s0]", "int s0 + 1"
std::string form_text(const TensorMeta& value) {
  if (!value.is_scalar) return value.dtype + " " + shape_list_text(value);
  return shape_text(value) + (value.expression.empty() ? "" : " " + value.expression);
}

std::string form_text(const at::Tensor& tensor) {
  return form_text(TensorMeta{
      .name = {}, .shape = tensor.sizes().vec(), .dtype = dtype_name(tensor.scalar_type())});
}

std::string text_of(const Attribute& attribute) {
  std::ostringstream text;
  text << attribute;
  return text.str();
}

// "[relu, weight]"
std::string names_text(const std::vector<TensorMeta>& values) {
  std::vector<std::string_view> names;
  for (const TensorMeta& value : values) names.push_back(value.name);
  return fmt::format("[{}]", fmt::join(names, ", "));
}

std::string results_text(const OpNode& node) {
  std::vector<std::string> forms;
  for (const TensorMeta& output : node.outputs) forms.push_back(form_text(output));
  return fmt::format("{}", fmt::join(forms, ", "));
}

std::string argument_text(const TensorMeta& input) {
  return input.arg.empty() ? "by position" : "as " + input.arg;
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
  return {"fixed output " + std::to_string(output.index), text_of(output.value)};
}

// The placeholders of `ir` that `other` has too, or whose weight it has. All others are reported
// with their weight.
std::vector<Item> mapped_items(const IR& ir, const IR& other) {
  std::vector<Item> items;
  for (const auto& item : ir.weight_name_mapping) {
    const bool is_known =
        other.weight_name_mapping.contains(item.key()) ||
        std::ranges::find(other.weights, item.value(), &TensorMeta::name) != other.weights.end();
    if (is_known) items.emplace_back(item.key(), item.value());
  }
  return items;
}

std::string element_text(const at::Tensor& tensor, int64_t index) {
  const at::Tensor element = tensor.flatten()[index];
  if (element.scalar_type() == at::kBool) return element.item<bool>() ? "True" : "False";
  if (element.scalar_type() == at::kDouble) return fmt::format("{}", element.item<double>());
  if (element.is_floating_point()) return fmt::format("{}", element.to(at::kFloat).item<float>());
  if (!element.is_complex()) return fmt::format("{}", element.item<int64_t>());
  const c10::complex<double> value = element.item().toComplexDouble();
  return fmt::format("{}{:+}j", value.real(), value.imag());
}

std::vector<int64_t> place_of(int64_t index, c10::IntArrayRef sizes) {
  std::vector<int64_t> place(sizes.size());
  for (size_t d = sizes.size(); d-- > 0; index /= sizes[d]) place[d] = index % sizes[d];
  return place;
}

// "1.5 at [0, 1]" and "2, 3 of 6 elements differ"; equal texts if all elements are equal bit
// by bit, or NaN. Both tensors have the same shape and dtype.
std::pair<std::string, std::string> values_text(const at::Tensor& old, const at::Tensor& now) {
  const auto state = [](const at::Tensor& tensor) {
    return tensor.is_meta() ? "unknown" : "known";
  };
  if (old.is_meta() || now.is_meta() || old.numel() == 0) return {state(old), state(now)};
  const auto bytes = [](const at::Tensor& tensor) {
    return tensor.contiguous().flatten().view(at::kByte).view({tensor.numel(), -1});
  };
  const auto is_nan = [](const at::Tensor& tensor) {
    return (tensor.is_complex() ? tensor : tensor.to(at::kDouble)).flatten().isnan();
  };
  const at::Tensor differs = bytes(old)
                                 .ne(bytes(now))
                                 .any(1)
                                 .logical_and(is_nan(old).logical_and(is_nan(now)).logical_not());
  if (!differs.any().item<bool>()) return {};
  const auto first = differs.nonzero()[0].item<int64_t>();
  return {fmt::format("{} at [{}]", element_text(old, first),
                      fmt::join(place_of(first, old.sizes()), ", ")),
          fmt::format("{}, {} of {} elements differ", element_text(now, first),
                      differs.sum().item<int64_t>(), old.numel())};
}

Origins made_values(const IRGraph& graph) {
  Origins origins;
  for (const OpNode& node : graph.nodes) {
    for (const TensorMeta& output : node.outputs) {
      origins.try_emplace(output.name, ValueOrigin{.source = &output});
    }
  }
  return origins;
}

void add_weights(const IR& ir, const IR& old, Origins& origins) {
  std::unordered_map<std::string_view, const TensorMeta*> weights;
  for (const TensorMeta& weight : ir.weights) weights.try_emplace(weight.name, &weight);
  for (const auto& item : ir.weight_name_mapping) {
    // Uses the old mapping; a changed one is reported only once.
    const std::string* before = old.weight_name_mapping.find(item.key());
    const auto weight = weights.find(item.value());
    origins.try_emplace(item.key(),
                        ValueOrigin{.key = key_of({}, before == nullptr ? item.value() : *before),
                                    .source = weight == weights.end() ? nullptr : weight->second});
  }
  for (const auto& [name, weight] : weights) {
    origins.try_emplace(weight->name,
                        ValueOrigin{.key = key_of({}, weight->name), .source = weight});
  }
}

Attribute with_origins(const Attribute& attribute, const Origins& origins) {
  return with_values(attribute, [&](const ValueRef& value) -> Attribute {
    std::string key = key_of(origins, value.name);
    return key.empty() ? value : ValueRef{std::move(key)};
  });
}

class GraphComparer {
 public:
  GraphComparer(const IRGraph& old, const IRGraph& now, std::string place, GraphDiff& diff)
      : old_(old),
        new_(now),
        place_(std::move(place)),
        diff_(diff),
        old_origins_(made_values(old)),
        new_origins_(made_values(now)) {}

  // Null except for the outermost graph, which has weights and the like.
  void compare(const IR* old, const IR* now) {
    if (old != nullptr && now != nullptr) {
      const auto quoted = [](const std::string& text) { return "'" + text + "'"; };
      compare(ChangeKind::kModelName, "", {}, quoted(old->model_name), quoted(now->model_name));
      compare(ChangeKind::kPytorchVersion, "", {}, quoted(old->pytorch_version),
              quoted(now->pytorch_version));
    }
    compare_inputs();
    if (old != nullptr && now != nullptr) {
      add_weights(*old, *old, old_origins_);
      add_weights(*now, *old, new_origins_);
      compare_tables(*old, *now);
    }
    compare_nodes();
    compare_outputs();
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

  void add(ChangeKind kind, const OpNode& node, std::string property, std::string before,
           std::string after) {
    add(kind, node.name, std::move(property), std::move(before), std::move(after)).op_type =
        node.op_type;
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

  void compare_tables(const IR& old, const IR& now) {
    const auto always = [](ChangeKind kind) { return Kinds{kind, kind, kind}; };
    compare_items(
        old.constant_inputs, now.constant_inputs,
        [](const auto& input) { return Item(input.first, text_of(input.second)); },
        always(ChangeKind::kConstantInput));
    compare_items(old.range_constraints, now.range_constraints, range_item,
                  always(ChangeKind::kRange));
    compare_items(
        old.guards, now.guards, [](const std::string& guard) { return Item(guard, "checked"); },
        always(ChangeKind::kGuard));
    compare_items(
        old.weights, now.weights,
        [](const TensorMeta& weight) {
          const std::string strides = fmt::format("{}", fmt::join(weight.strides, ", "));
          return Item(weight.name, form_text(weight) +
                                       (strides.empty() ? "" : " with strides [" + strides + "]"));
        },
        {ChangeKind::kWeightAdded, ChangeKind::kWeightRemoved, ChangeKind::kWeightChanged});
    compare_items(mapped_items(old, now), mapped_items(now, old), std::identity(),
                  always(ChangeKind::kWeightMapping));
    compare_items(
        old.constants, now.constants,
        [](const auto& constant) { return Item(constant.key(), form_text(constant.value())); },
        {ChangeKind::kConstantAdded, ChangeKind::kConstantRemoved, ChangeKind::kConstantChanged});
    for (const auto& item : now.constants) {
      const at::Tensor* before = old.constants.find(item.key());
      if (before == nullptr || form_text(*before) != form_text(item.value())) continue;
      const auto [was, is] = values_text(*before, item.value());
      compare(ChangeKind::kConstantChanged, item.key(), "values", was, is);
    }
  }

  // Pairs inputs by name, then renamed ones by position; returns the old input of each new one.
  std::vector<std::optional<size_t>> pair_inputs() const {
    const std::vector<TensorMeta>& inputs = new_.graph_inputs;
    std::vector<std::optional<size_t>> old_of_new(inputs.size());
    std::vector<size_t> others;
    for (size_t i = 0; i < old_.graph_inputs.size(); ++i) {
      const auto same = std::ranges::find(inputs, old_.graph_inputs[i].name, &TensorMeta::name);
      if (same == inputs.end()) {
        others.push_back(i);
      } else {
        old_of_new[static_cast<size_t>(same - inputs.begin())] = i;
      }
    }
    for (const size_t i : others) {
      if (i < inputs.size() && !old_of_new[i]) old_of_new[i] = i;
    }
    return old_of_new;
  }

  void compare_inputs() {
    const std::vector<std::optional<size_t>> old_of_new = pair_inputs();
    for (size_t i = 0; i < old_of_new.size(); ++i) {
      const TensorMeta& now = new_.graph_inputs[i];
      const ValueOrigin origin{.key = "input " + now.name, .source = &now};
      new_origins_.try_emplace(now.name, origin);
      if (!old_of_new[i]) {
        add(ChangeKind::kInputAdded, now.name, {}, {}, form_text(now));
        continue;
      }
      const TensorMeta& old = old_.graph_inputs[*old_of_new[i]];
      old_origins_.try_emplace(old.name, ValueOrigin{.key = origin.key, .source = &old});
      compare_input(*old_of_new[i], i);
    }
    for (size_t i = 0; i < old_.graph_inputs.size(); ++i) {
      const TensorMeta& old = old_.graph_inputs[i];
      if (std::ranges::find(old_of_new, std::optional(i)) != old_of_new.end()) continue;
      old_origins_.try_emplace(old.name,
                               ValueOrigin{.key = "removed input " + old.name, .source = &old});
      add(ChangeKind::kInputRemoved, old.name, {}, form_text(old), {});
    }
  }

  void compare_input(size_t old, size_t now) {
    const TensorMeta& before = old_.graph_inputs[old];
    const TensorMeta& after = new_.graph_inputs[now];
    constexpr ChangeKind kChanged = ChangeKind::kInputChanged;
    compare(kChanged, after.name, "place", std::to_string(old), std::to_string(now));
    compare(kChanged, after.name, "name", before.name, after.name);
    compare(kChanged, after.name, {}, form_text(before), form_text(after));
  }

  void compare_nodes() {
    const NodeMatch match = match_nodes(old_, new_, old_origins_, new_origins_);
    const std::vector<OpNode>& old_nodes = old_.nodes;
    const std::vector<OpNode>& new_nodes = new_.nodes;
    size_t next_old = 0;
    const auto report_removed = [&](size_t end) {
      for (; next_old < end; ++next_old) {
        if (match.new_of_old[next_old]) continue;
        const OpNode& node = old_nodes[next_old];
        add(ChangeKind::kOperatorRemoved, node, {}, results_text(node), {});
      }
    };
    for (size_t i = 0; i < new_nodes.size(); ++i) {
      const auto& partner = match.old_of_new[i];
      if (!partner) {
        add(ChangeKind::kOperatorAdded, new_nodes[i], {}, {}, results_text(new_nodes[i]));
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

  void compare_node(const OpNode& old, const OpNode& now) {
    compare(ChangeKind::kOperatorRenamed, "", {}, old.name, now.name);
    compare(ChangeKind::kModulePath, now, "module", old.module, now.module);
    compare(ChangeKind::kOperatorReplaced, now.name, {}, old.op_type, now.op_type);
    compare_attributes(old, now);
    compare_node_inputs(old, now);
    compare_results(old, now);
    compare_graphs(old, now);
  }

  void compare_attributes(const OpNode& old, const OpNode& now) {
    for (const auto& [name, value] : now.attrs) {
      const Attribute* before = old.attrs.find(name);
      if (before != nullptr &&
          with_origins(*before, old_origins_) == with_origins(value, new_origins_)) {
        continue;
      }
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
      compare(ChangeKind::kOperatorInputs, now, place, argument_text(before), argument_text(after));
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
      compare(ChangeKind::kShape, now, is_only ? "result" : "result " + std::to_string(i),
              i < old.outputs.size() ? form_text(old.outputs[i]) : "",
              i < now.outputs.size() ? form_text(now.outputs[i]) : "");
    }
  }

  void compare_graphs(const OpNode& old, const OpNode& now) {
    for (size_t i = 0; i < std::min(old.graphs.size(), now.graphs.size()); ++i) {
      const std::string place = now.name + ", graph " + std::to_string(i);
      GraphComparer(old.graphs[i], now.graphs[i], place_.empty() ? place : place_ + ", " + place,
                    diff_)
          .compare(nullptr, nullptr);
    }
    compare(ChangeKind::kAttribute, now, "graphs", std::to_string(old.graphs.size()),
            std::to_string(now.graphs.size()));
  }

  void compare_outputs() {
    const std::vector<TensorMeta>& old_outputs = old_.graph_outputs;
    const std::vector<TensorMeta>& new_outputs = new_.graph_outputs;
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
    compare_items(
        old_.constant_outputs, new_.constant_outputs, output_item,
        {ChangeKind::kOutputAdded, ChangeKind::kOutputRemoved, ChangeKind::kOutputChanged});
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

  bool is_same_source(const std::string& old, const std::string& now) const {
    return is_same_origin(key_of(old_origins_, old), key_of(new_origins_, now));
  }

  // Whether the form of a use changed differently from the declaration of the value.
  bool is_news(const TensorMeta& before, const TensorMeta& after) const {
    const auto is_as_made = [](const TensorMeta& use, const Origins& origins) {
      const auto origin = origins.find(use.name);
      return origin != origins.end() && origin->second.source != nullptr &&
             form_text(*origin->second.source) == form_text(use);
    };
    return form_text(before) != form_text(after) &&
           !(is_as_made(before, old_origins_) && is_as_made(after, new_origins_));
  }

  const IRGraph& old_;
  const IRGraph& new_;
  const std::string place_;
  GraphDiff& diff_;
  Origins old_origins_;
  Origins new_origins_;
};

}  // namespace

GraphDiff diff(const IR& old, const IR& now) {
  GraphDiff diff;
  GraphComparer(old, now, "", diff).compare(&old, &now);
  return diff;
}

}  // namespace torch_ir
