#include "torch_ir/visualize/sketch.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "torch_ir/visualize/labels.h"

namespace torch_ir {
namespace {

constexpr size_t kMaxShapesInDetail = 4;

size_t shown_count(size_t size, int64_t limit) {
  return std::min(size, static_cast<size_t>(std::max<int64_t>(limit, 0)));
}

// The shapes of a node's outputs: "1x4", "1x4, 1x8", "1x4, 1x4, 1x4, 1x4, ... 3 more".
std::string output_shapes_text(const std::vector<TensorMeta>& outputs) {
  std::string text;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (i > 0) text += ", ";
    if (i == kMaxShapesInDetail) {
      return text + "... " + std::to_string(outputs.size() - i) + " more";
    }
    text += shape_text(outputs[i]);
  }
  return text;
}

class Sketcher {
 public:
  Sketcher(const IR& ir, const SketchLimits& limits)
      : ir_(ir),
        num_inputs_(shown_count(ir.graph_inputs.size(), limits.inputs)),
        num_nodes_(shown_count(ir.nodes.size(), limits.nodes)),
        num_outputs_(shown_count(ir.graph_outputs.size(), limits.outputs)) {}

  GraphSketch run() && {
    draw_inputs();
    for (size_t i = 0; i < num_nodes_; ++i) draw_node(i);
    draw_hidden_nodes();
    draw_outputs();
    return std::move(sketch_);
  }

 private:
  // What makes a value: a graph input, or one of the outputs of a node.
  struct Source {
    bool is_node;
    size_t index;
    // Where the node has several.
    std::optional<size_t> output;
  };

  // Called once the node is drawn: a value that is used before it is made has no source.
  void index_outputs(size_t node) {
    const std::vector<TensorMeta>& outputs = ir_.nodes[node].outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto output = outputs.size() > 1 ? std::optional(i) : std::nullopt;
      sources_.try_emplace(outputs[i].name, Source{true, node, output});
    }
  }

  const Source* find_source(const TensorMeta& value) const {
    const auto found = sources_.find(value.name);
    return found == sources_.end() ? nullptr : &found->second;
  }

  bool is_shown(const Source& source) const {
    return source.index < (source.is_node ? num_nodes_ : num_inputs_);
  }

  void add_box(BoxKind kind, std::string id, std::string title, std::string detail,
               std::string name = "") {
    sketch_.marks.push_back(
        Box{kind, std::move(id), std::move(title), std::move(detail), std::move(name)});
  }

  void add_arrow(std::string from, std::string to, std::string label, bool from_weight = false) {
    sketch_.marks.emplace_back(
        Arrow{std::move(from), std::move(to), std::move(label), from_weight});
    ++sketch_.num_arrows;
  }

  // A box that stands for `count` more of `what` (a plural in -s); returns its identifier.
  std::string add_note(size_t count, std::string_view what) {
    std::string id = ids_.make("more_", what);
    if (count == 1) what.remove_suffix(1);
    add_box(BoxKind::kNote, id,
            "... " + std::to_string(count) + " more " + std::string(what) + " ...", "");
    return id;
  }

  void draw_inputs() {
    for (size_t i = 0; i < num_inputs_; ++i) {
      const TensorMeta& input = ir_.graph_inputs[i];
      input_ids_.push_back(ids_.make("input_", input.name));
      add_box(BoxKind::kInput, input_ids_.back(), "Input: " + printable_name(input.name),
              shape_text(input), input.name);
    }
    const size_t hidden = ir_.graph_inputs.size() - num_inputs_;
    if (hidden > 0) hidden_inputs_id_ = add_note(hidden, "inputs");
    for (size_t i = 0; i < ir_.graph_inputs.size(); ++i) {
      sources_.try_emplace(ir_.graph_inputs[i].name, Source{false, i, std::nullopt});
    }
  }

  void draw_node(size_t index) {
    const OpNode& node = ir_.nodes[index];
    node_ids_.push_back(ids_.make("op_", node.name));
    add_box(BoxKind::kOperator, node_ids_.back(), printable_name(operator_label(node.op_type)),
            output_shapes_text(node.outputs), node.name);
    for (const TensorMeta& input : node.inputs) {
      add_value_arrow(input, node_ids_[index], arrow_label(input));
    }
    draw_numbers(node, node_ids_[index]);
    index_outputs(index);
  }

  // Arrows for the numbers that attributes refer to, one for each.
  void draw_numbers(const OpNode& node, const std::string& to) {
    std::unordered_set<std::string> drawn;
    for (const auto& [name, attribute] : node.attrs) {
      for (const std::string& ref : value_refs(attribute)) {
        const auto source = sources_.find(ref);
        if (source == sources_.end() || !drawn.insert(ref).second) continue;
        add_arrow(source_id(source->second), to, name);
      }
    }
  }

  std::string arrow_label(const TensorMeta& value) const {
    const Source* source = find_source(value);
    std::string label = shape_text(value);
    if (source == nullptr || !source->output) return label;
    return "out " + std::to_string(*source->output) + ": " + label;
  }

  // An arrow from whatever makes `value`; a weight gets its box at its first use.
  void add_value_arrow(const TensorMeta& value, const std::string& to, std::string label) {
    if (const Source* source = find_source(value)) {
      add_arrow(source_id(*source), to, std::move(label));
    } else {
      add_arrow(weight_id(value), to, std::move(label), /*from_weight=*/true);
    }
  }

  const std::string& source_id(const Source& source) const {
    if (source.is_node) {
      return is_shown(source) ? node_ids_[source.index] : hidden_nodes_id_;
    }
    return is_shown(source) ? input_ids_[source.index] : hidden_inputs_id_;
  }

  std::string weight_id(const TensorMeta& weight) {
    const auto [entry, is_new] = weight_ids_.try_emplace(weight.name);
    if (is_new) {
      entry->second = ids_.make("w_", weight.name);
      add_box(BoxKind::kWeight, entry->second, printable_name(weight.name), shape_text(weight),
              weight.name);
    }
    return entry->second;
  }

  // One note for the nodes that are not shown, with an arrow from everything shown that they use.
  void draw_hidden_nodes() {
    if (num_nodes_ == ir_.nodes.size()) return;
    hidden_nodes_id_ = add_note(ir_.nodes.size() - num_nodes_, "nodes");
    std::unordered_set<std::string_view> drawn;
    for (size_t i = num_nodes_; i < ir_.nodes.size(); ++i) {
      for (const TensorMeta& input : ir_.nodes[i].inputs) {
        const Source* source = find_source(input);
        if (source == nullptr || !is_shown(*source) || !drawn.insert(input.name).second) continue;
        add_value_arrow(input, hidden_nodes_id_, arrow_label(input));
      }
    }
    for (size_t i = num_nodes_; i < ir_.nodes.size(); ++i) index_outputs(i);
  }

  void draw_outputs() {
    const bool is_only_one = ir_.graph_outputs.size() == 1;
    for (size_t i = 0; i < num_outputs_; ++i) {
      const TensorMeta& output = ir_.graph_outputs[i];
      const std::string id = ids_.make("output_", std::to_string(i));
      add_box(BoxKind::kOutput, id,
              is_only_one ? "Output" : "Output: " + printable_name(output.name), shape_text(output),
              output.name);
      add_value_arrow(output, id, "");
    }
    const size_t hidden = ir_.graph_outputs.size() - num_outputs_;
    if (hidden > 0) add_note(hidden, "outputs");
  }

  const IR& ir_;
  const size_t num_inputs_;
  const size_t num_nodes_;
  const size_t num_outputs_;
  std::unordered_map<std::string_view, Source> sources_;
  Identifiers ids_;
  std::vector<std::string> input_ids_;
  std::vector<std::string> node_ids_;
  std::unordered_map<std::string_view, std::string> weight_ids_;
  std::string hidden_inputs_id_;
  std::string hidden_nodes_id_;
  GraphSketch sketch_;
};

}  // namespace

GraphSketch sketch_graph(const IR& ir, const SketchLimits& limits) {
  return Sketcher(ir, limits).run();
}

}  // namespace torch_ir
