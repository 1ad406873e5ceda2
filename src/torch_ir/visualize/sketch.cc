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

// "1x4", "1x4, 1x8", "1x4, 1x4, 1x4, 1x4, ... 3 more".
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

struct View {
  size_t begin = 0;
  // The first node after the part, and the first that is not shown.
  size_t end = 0;
  size_t shown_end = 0;
  std::vector<const TensorMeta*> inputs = {};
  std::vector<const TensorMeta*> outputs = {};
  size_t num_inputs = 0;
  size_t num_outputs = 0;
  std::string prefix = {};
  // Those of `inputs` that other nodes of the graph make.
  std::unordered_set<std::string_view> made = {};
};

class Sketcher {
 public:
  Sketcher(const IR& ir, View view) : ir_(ir), view_(std::move(view)) {}

  GraphSketch run() && {
    draw_inputs();
    for (size_t i = view_.begin; i < view_.shown_end; ++i) draw_node(ir_.nodes[i]);
    draw_hidden_nodes();
    draw_outputs();
    return std::move(sketch_);
  }

 private:
  // The origin of a value: a graph input, or one of the outputs of a node.
  struct Source {
    // Its box, or a note that stands for it.
    std::string id;
    bool is_shown = true;
    // Set if the node has several outputs.
    std::optional<size_t> output = std::nullopt;
  };

  // Call this after drawing the node: a value that is used before it is made has no source.
  void index_outputs(const OpNode& node, const std::string& id, bool is_shown) {
    const std::vector<TensorMeta>& outputs = node.outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto output = outputs.size() > 1 ? std::optional(i) : std::nullopt;
      sources_.try_emplace(outputs[i].name, Source{id, is_shown, output});
    }
  }

  const Source* find_source(const TensorMeta& value) const {
    const auto found = sources_.find(value.name);
    return found == sources_.end() ? nullptr : &found->second;
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

  // Adds a box for `count` more of `what` (a plural in -s); returns its identifier.
  std::string add_note(size_t count, std::string_view what) {
    std::string id = make_id("more_", what);
    if (count == 1) what.remove_suffix(1);
    add_box(BoxKind::kNote, id,
            "... " + std::to_string(count) + " more " + std::string(what) + " ...", "");
    return id;
  }

  std::string make_id(const char* kind, std::string_view name) {
    return view_.prefix + ids_.make(kind, name);
  }

  void draw_inputs() {
    for (size_t i = 0; i < view_.num_inputs; ++i) {
      const TensorMeta& input = *view_.inputs[i];
      const std::string id = make_id("input_", input.name);
      const char* role = view_.made.contains(input.name) ? "From: " : "Input: ";
      add_box(BoxKind::kInput, id, role + printable_name(input.name), shape_text(input),
              input.name);
      sources_.try_emplace(input.name, Source{id});
    }
    if (view_.num_inputs == view_.inputs.size()) return;
    const std::string note = add_note(view_.inputs.size() - view_.num_inputs, "inputs");
    for (size_t i = view_.num_inputs; i < view_.inputs.size(); ++i) {
      sources_.try_emplace(view_.inputs[i]->name, Source{note, /*is_shown=*/false});
    }
  }

  void draw_node(const OpNode& node) {
    const std::string id = make_id("op_", node.name);
    add_box(BoxKind::kOperator, id, printable_name(operator_label(node.op_type)),
            output_shapes_text(node.outputs), node.name);
    for (const TensorMeta& input : node.inputs) add_value_arrow(input, id, arrow_label(input));
    draw_numbers(node, id);
    index_outputs(node, id, /*is_shown=*/true);
  }

  void draw_numbers(const OpNode& node, const std::string& to) {
    std::unordered_set<std::string> drawn;
    for (const auto& [name, attribute] : node.attrs) {
      for (const std::string& ref : value_refs(attribute)) {
        const auto source = sources_.find(ref);
        if (source == sources_.end() || !drawn.insert(ref).second) continue;
        add_arrow(source->second.id, to, name);
      }
    }
  }

  std::string arrow_label(const TensorMeta& value) const {
    const Source* source = find_source(value);
    std::string label = shape_text(value);
    if (source == nullptr || !source->output) return label;
    return "out " + std::to_string(*source->output) + ": " + label;
  }

  // Draws an arrow from the origin of `value`; a weight gets its box at its first use.
  void add_value_arrow(const TensorMeta& value, const std::string& to, std::string label) {
    if (const Source* source = find_source(value)) {
      add_arrow(source->id, to, std::move(label));
    } else {
      add_arrow(weight_id(value), to, std::move(label), /*from_weight=*/true);
    }
  }

  std::string weight_id(const TensorMeta& weight) {
    const auto [entry, is_new] = weight_ids_.try_emplace(weight.name);
    if (is_new) {
      entry->second = make_id("w_", weight.name);
      add_box(BoxKind::kWeight, entry->second, printable_name(weight.name), shape_text(weight),
              weight.name);
    }
    return entry->second;
  }

  // Draws one note for the hidden nodes, with arrows from everything shown that they use.
  void draw_hidden_nodes() {
    if (view_.shown_end == view_.end) return;
    const std::string note = add_note(view_.end - view_.shown_end, "nodes");
    std::unordered_set<std::string_view> drawn;
    for (size_t i = view_.shown_end; i < view_.end; ++i) {
      for (const TensorMeta& input : ir_.nodes[i].inputs) {
        const Source* source = find_source(input);
        if (source == nullptr || !source->is_shown || !drawn.insert(input.name).second) continue;
        add_value_arrow(input, note, arrow_label(input));
      }
    }
    for (size_t i = view_.shown_end; i < view_.end; ++i) {
      index_outputs(ir_.nodes[i], note, /*is_shown=*/false);
    }
  }

  void draw_outputs() {
    const bool is_only_one = ir_.graph_outputs.size() == 1;
    for (size_t i = 0; i < view_.num_outputs; ++i) {
      const TensorMeta& output = *view_.outputs[i];
      const std::string id = make_id("output_", std::to_string(i));
      add_box(BoxKind::kOutput, id,
              is_only_one ? "Output" : "Output: " + printable_name(output.name), shape_text(output),
              output.name);
      add_value_arrow(output, id, "");
    }
    const size_t hidden = view_.outputs.size() - view_.num_outputs;
    if (hidden > 0) add_note(hidden, "outputs");
  }

  const IR& ir_;
  const View view_;
  std::unordered_map<std::string_view, Source> sources_;
  Identifiers ids_;
  std::unordered_map<std::string_view, std::string> weight_ids_;
  GraphSketch sketch_;
};

// Splits a graph into sections. The values of the graph's inputs and of earlier sections that a
// section uses become its own inputs.
class Sections {
 public:
  Sections(const IR& ir, size_t num_nodes) : ir_(ir), num_nodes_(num_nodes) {
    for (const TensorMeta& input : ir.graph_inputs) values_.try_emplace(input.name, &input);
    for (size_t i = 0; i < num_nodes; ++i) {
      for (const TensorMeta& output : ir.nodes[i].outputs) {
        values_.try_emplace(output.name, &output);
        makers_.try_emplace(output.name, i);
      }
    }
  }

  View view(size_t begin, size_t end, std::string prefix) const {
    View view{.begin = begin, .end = end, .shown_end = end, .prefix = std::move(prefix)};
    std::unordered_set<std::string_view> used;
    const auto use = [&](std::string_view name) {
      const auto value = values_.find(name);
      if (value == values_.end()) return;
      const auto maker = makers_.find(name);
      const bool is_made = maker != makers_.end();
      // Use the key, which lives as long as the graph; `name` may be that of a temporary reference.
      if ((is_made && maker->second >= begin) || !used.insert(value->first).second) return;
      view.inputs.push_back(value->second);
      if (is_made) view.made.insert(value->first);
    };
    if (begin == 0) {
      for (const TensorMeta& input : ir_.graph_inputs) use(input.name);
    }
    for (size_t i = begin; i < end; ++i) {
      for (const TensorMeta& input : ir_.nodes[i].inputs) use(input.name);
      for (const auto& [name, attribute] : ir_.nodes[i].attrs) {
        for (const std::string& ref : value_refs(attribute)) use(ref);
      }
    }
    for (const TensorMeta& output : ir_.graph_outputs) {
      const auto maker = makers_.find(output.name);
      // Outputs that no node makes belong to the last section.
      const bool is_here = maker == makers_.end() ? end == num_nodes_
                                                  : maker->second >= begin && maker->second < end;
      if (!is_here) continue;
      use(output.name);
      view.outputs.push_back(&output);
    }
    view.num_inputs = view.inputs.size();
    view.num_outputs = view.outputs.size();
    return view;
  }

 private:
  const IR& ir_;
  const size_t num_nodes_;
  std::unordered_map<std::string_view, const TensorMeta*> values_;
  std::unordered_map<std::string_view, size_t> makers_;
};

}  // namespace

GraphSketch sketch_graph(const IR& ir, const SketchLimits& limits) {
  const size_t num_nodes = ir.nodes.size();
  View view = Sections(ir, num_nodes).view(0, num_nodes, "");
  view.shown_end = shown_count(num_nodes, limits.nodes);
  view.num_inputs = shown_count(view.inputs.size(), limits.inputs);
  view.num_outputs = shown_count(view.outputs.size(), limits.outputs);
  return Sketcher(ir, std::move(view)).run();
}

std::vector<GraphSketch> sketch_sections(const IR& ir, size_t nodes_per_section, size_t max_nodes) {
  const size_t num_nodes = std::min(ir.nodes.size(), max_nodes);
  const Sections sections(ir, num_nodes);
  std::vector<GraphSketch> sketches;
  for (size_t begin = 0; begin < num_nodes; begin += nodes_per_section) {
    const size_t end = std::min(begin + nodes_per_section, num_nodes);
    const std::string prefix = "s" + std::to_string(begin / nodes_per_section) + "_";
    sketches.push_back(Sketcher(ir, sections.view(begin, end, prefix)).run());
  }
  if (num_nodes < ir.nodes.size()) {
    sketches.push_back(
        Sketcher(ir, {.begin = num_nodes, .end = ir.nodes.size(), .shown_end = num_nodes}).run());
  }
  return sketches;
}

}  // namespace torch_ir
