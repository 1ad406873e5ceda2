#include "torch_ir/visualize/sketch.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "torch_ir/visualize/labels.h"

namespace torch_ir {
namespace {

constexpr size_t kMaxShapesInDetail = 4;
constexpr size_t kMaxShapesOfArrow = 2;
// If parts are folded: the boxes at which no more parts are opened; inputs; outputs.
constexpr size_t kMaxFoldedBoxes = 30;
constexpr size_t kMaxFoldedTerminals = 12;

size_t shown_count(size_t size, int64_t limit) {
  return std::min(size, static_cast<size_t>(std::max<int64_t>(limit, 0)));
}

// "1x4", "1x4, 1x8", "1x4, 1x4, 1x4, 1x4, ... 3 more".
std::string list_text(const std::vector<std::string>& items, size_t max_items) {
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += ", ";
    if (i == max_items) return text + "... " + std::to_string(items.size() - i) + " more";
    text += items[i];
  }
  return text;
}

std::string output_shapes_text(const std::vector<TensorMeta>& outputs) {
  std::vector<std::string> shapes;
  for (const TensorMeta& output : outputs) shapes.push_back(shape_text(output));
  return list_text(shapes, kMaxShapesInDetail);
}

std::string repeat_text(const Part& part) {
  return part.copies == 1 ? "" : " ×" + std::to_string(part.copies);
}

// The part of the graph that a drawing shows.
struct View {
  size_t begin = 0;
  // The end of the part, and the first node that is not shown.
  size_t end = 0;
  size_t shown_end = 0;
  std::vector<const TensorMeta*> inputs = {};
  std::vector<const TensorMeta*> outputs = {};
  size_t num_inputs = 0;
  size_t num_outputs = 0;
  // The `inputs` that other nodes of the graph make.
  std::unordered_set<std::string_view> made = {};
  // As in BoxNodes.
  std::vector<size_t> shifts = {0};
  // Null if every node is drawn.
  const Part* folded = nullptr;
  std::unordered_set<const Part*> opened = {};
};

class Sketcher {
 public:
  Sketcher(const IR& ir, View view) : ir_(ir), view_(std::move(view)) {}

  GraphSketch run() && {
    draw_inputs();
    if (view_.folded) {
      for (const Part& child : view_.folded->children) draw_part(child);
    } else {
      for (size_t i = view_.begin; i < view_.shown_end; ++i) {
        draw_node(i, {.begin = i, .end = i + 1, .shifts = view_.shifts});
      }
      draw_hidden_nodes();
    }
    draw_outputs();
    draw_merged_arrows();
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

  const Source* find_source(std::string_view name) const {
    const auto found = sources_.find(name);
    return found == sources_.end() ? nullptr : &found->second;
  }

  void add_box(Box box) { sketch_.marks.emplace_back(std::move(box)); }

  void add_arrow(std::string from, std::string to, std::string label, bool from_weight = false) {
    sketch_.marks.emplace_back(
        Arrow{std::move(from), std::move(to), std::move(label), from_weight});
    ++sketch_.num_arrows;
  }

  // Adds a box for `count` more of `what` (a plural in -s); returns its identifier.
  std::string add_note(size_t count, std::string_view what) {
    std::string id = ids_.make("more_", what);
    if (count == 1) what.remove_suffix(1);
    add_box({.kind = BoxKind::kNote,
             .id = id,
             .title = "... " + std::to_string(count) + " more " + std::string(what) + " ...",
             .detail = ""});
    return id;
  }

  void draw_inputs() {
    for (size_t i = 0; i < view_.num_inputs; ++i) {
      const TensorMeta& input = *view_.inputs[i];
      const std::string id = ids_.make("input_", input.name);
      const char* role = view_.made.contains(input.name) ? "From: " : "Input: ";
      add_box({.kind = BoxKind::kInput,
               .id = id,
               .title = role + printable_name(input.name),
               .detail = shape_text(input),
               .name = input.name});
      sources_.try_emplace(input.name, Source{id});
    }
    if (view_.num_inputs == view_.inputs.size()) return;
    const std::string note = add_note(view_.inputs.size() - view_.num_inputs, "inputs");
    for (size_t i = view_.num_inputs; i < view_.inputs.size(); ++i) {
      sources_.try_emplace(view_.inputs[i]->name, Source{note, /*is_shown=*/false});
    }
  }

  // `module` is set for a node that is a whole module.
  void draw_node(size_t index, BoxNodes nodes, const std::string& module = "") {
    const OpNode& node = ir_.nodes[index];
    const std::string id = ids_.make("op_", node.name);
    const std::string label = operator_label(node.op_type);
    add_box({.kind = BoxKind::kOperator,
             .id = id,
             .title = printable_name(module.empty() ? label : module + ": " + label),
             .detail = output_shapes_text(node.outputs),
             .name = node.name,
             .nodes = std::move(nodes)});
    for (const TensorMeta& input : node.inputs) {
      if (view_.folded) {
        merge_arrow(input.name, id, shape_text(input));
      } else {
        add_value_arrow(input, id, arrow_label(input));
      }
    }
    draw_numbers(node, id);
    index_outputs(node, id, /*is_shown=*/true);
  }

  void draw_numbers(const OpNode& node, const std::string& to) {
    std::unordered_set<std::string> drawn;
    for (const auto& [name, attribute] : node.attrs) {
      for (const std::string& ref : value_refs(attribute)) {
        const auto source = sources_.find(ref);
        if (source == sources_.end() || !drawn.insert(ref).second) continue;
        if (view_.folded) {
          merge_arrow(source->first, to, name);
        } else {
          add_arrow(source->second.id, to, name);
        }
      }
    }
  }

  std::string arrow_label(const TensorMeta& value) const {
    const Source* source = find_source(value.name);
    std::string label = shape_text(value);
    if (source == nullptr || !source->output) return label;
    return "out " + std::to_string(*source->output) + ": " + label;
  }

  // Draws an arrow from the origin of `value`; a weight gets its box at its first use.
  void add_value_arrow(const TensorMeta& value, const std::string& to, std::string label) {
    if (const Source* source = find_source(value.name)) {
      add_arrow(source->id, to, std::move(label));
    } else {
      add_arrow(weight_id(value), to, std::move(label), /*from_weight=*/true);
    }
  }

  std::string weight_id(const TensorMeta& weight) {
    const auto [entry, is_new] = weight_ids_.try_emplace(weight.name);
    if (is_new) {
      entry->second = ids_.make("w_", weight.name);
      add_box({.kind = BoxKind::kWeight,
               .id = entry->second,
               .title = printable_name(weight.name),
               .detail = shape_text(weight),
               .name = weight.name});
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
        const Source* source = find_source(input.name);
        if (source == nullptr || !source->is_shown || !drawn.insert(input.name).second) continue;
        add_value_arrow(input, note, arrow_label(input));
      }
    }
    for (size_t i = view_.shown_end; i < view_.end; ++i) {
      index_outputs(ir_.nodes[i], note, /*is_shown=*/false);
    }
  }

  // If parts are folded, one arrow stands for all values from one box to another. Values without a
  // source are weights, which are not drawn.
  void merge_arrow(std::string_view value, const std::string& to, const std::string& label) {
    const Source* source = find_source(value);
    if (source == nullptr || source->id == to) return;
    if (!merged_values_.insert(std::string(value) + '\n' + to).second) return;
    const auto [entry, is_new] = merged_.try_emplace(source->id + '\n' + to, arrows_.size());
    if (is_new) arrows_.push_back({source->id, to, {}});
    std::vector<std::string>& labels = arrows_[entry->second].labels;
    if (!label.empty()) labels.push_back(label);
  }

  void draw_merged_arrows() {
    for (MergedArrow& arrow : arrows_) {
      std::vector<std::string> different;
      for (const std::string& label : arrow.labels) {
        if (std::ranges::find(different, label) == different.end()) different.push_back(label);
      }
      std::string label = list_text(different, kMaxShapesOfArrow);
      if (different.size() == 1 && arrow.labels.size() > 1) {
        label = std::to_string(arrow.labels.size()) + " × " + label;
      }
      add_arrow(std::move(arrow.from), std::move(arrow.to), std::move(label));
    }
  }

  void merge_arrows_into(size_t node, const std::string& id) {
    for (const TensorMeta& input : ir_.nodes[node].inputs) {
      merge_arrow(input.name, id, shape_text(input));
    }
    draw_numbers(ir_.nodes[node], id);
  }

  void draw_part(const Part& part) {
    BoxNodes nodes{.begin = part.begin, .end = part.end, .shifts = part.shifts};
    if (part.is_node()) {
      draw_node(part.begin, std::move(nodes), part.title);
      return;
    }
    const std::string title = printable_name(part.title) + repeat_text(part);
    if (view_.opened.contains(&part)) {
      // Nodes that are merely drawn together get no frame.
      const bool is_framed = part.is_module || part.copies > 1;
      if (is_framed) sketch_.marks.emplace_back(PartFrame{ids_.make("in_", part.title), title});
      for (const Part& child : part.children) draw_part(child);
      if (is_framed) sketch_.marks.emplace_back(PartFrameEnd());
      draw_copies(part);
      return;
    }
    const std::string id = ids_.make("part_", part.title);
    add_box({.kind = BoxKind::kModule,
             .id = id,
             .title = title,
             .detail = std::to_string(part.num_nodes()) + " nodes",
             .name = part.title,
             .nodes = std::move(nodes),
             .part = &part});
    for (size_t i = part.begin; i < part.end; ++i) merge_arrows_into(i, id);
    for (size_t i = part.begin; i < part.end; ++i) {
      index_outputs(ir_.nodes[i], id, /*is_shown=*/true);
    }
  }

  // The first copy of an opened repeat stands for the others. Values from one copy to the next are
  // not drawn.
  void draw_copies(const Part& part) {
    if (part.copies == 1) return;
    const size_t length = part.end_of_first_copy() - part.begin;
    // The boxes of the first copy's nodes; empty for a node without outputs.
    std::vector<std::string> boxes(length);
    std::unordered_map<std::string_view, Source> own_sources;
    for (size_t i = 0; i < length; ++i) {
      for (const TensorMeta& output : ir_.nodes[part.begin + i].outputs) {
        const auto source = sources_.find(output.name);
        if (source == sources_.end()) continue;
        boxes[i] = source->second.id;
        own_sources.insert(sources_.extract(source));
      }
    }
    for (size_t i = part.begin + length; i < part.end; ++i) {
      const std::string& box = boxes[(i - part.begin) % length];
      if (!box.empty()) merge_arrows_into(i, box);
    }
    for (size_t i = part.begin + length; i < part.end; ++i) {
      const std::string& box = boxes[(i - part.begin) % length];
      if (!box.empty()) index_outputs(ir_.nodes[i], box, /*is_shown=*/true);
    }
    sources_.merge(own_sources);
  }

  void draw_outputs() {
    const bool is_only_one = view_.outputs.size() == 1;
    for (size_t i = 0; i < view_.num_outputs; ++i) {
      const TensorMeta& output = *view_.outputs[i];
      const std::string id = ids_.make("output_", std::to_string(i));
      add_box({.kind = BoxKind::kOutput,
               .id = id,
               .title = is_only_one ? "Output" : "Output: " + printable_name(output.name),
               .detail = shape_text(output),
               .name = output.name});
      if (view_.folded) {
        merge_arrow(output.name, id, "");
      } else {
        add_value_arrow(output, id, "");
      }
    }
    const size_t hidden = view_.outputs.size() - view_.num_outputs;
    if (hidden > 0) add_note(hidden, "outputs");
  }

  struct MergedArrow {
    std::string from;
    std::string to;
    std::vector<std::string> labels;
  };

  const IR& ir_;
  const View view_;
  std::unordered_map<std::string_view, Source> sources_;
  Identifiers ids_;
  std::unordered_map<std::string_view, std::string> weight_ids_;
  std::vector<MergedArrow> arrows_;
  // Positions in arrows_, by both boxes; and values with the box that they enter.
  std::unordered_map<std::string, size_t> merged_;
  std::unordered_set<std::string> merged_values_;
  GraphSketch sketch_;
};

// Whether `part` is a repeat of nodes, or contains modules or repeats.
bool has_parts(const Part& part) {
  return (part.copies > 1 && !part.is_module) ||
         std::ranges::any_of(part.children, [](const Part& child) {
           return !child.is_node() && (child.is_module || child.copies > 1);
         });
}

// Opens parts level by level, the largest first, as long as few boxes are shown.
std::unordered_set<const Part*> opened_for_reading(const Part& root) {
  std::unordered_set<const Part*> opened;
  const auto nodes_in_graph = [](const Part* part) {
    return part->num_nodes() * part->shifts.size();
  };
  size_t num_boxes = root.children.size();
  std::vector<const Part*> level = {&root};
  while (!level.empty()) {
    std::vector<const Part*> next;
    for (const Part* part : level) {
      for (const Part& child : part->children) {
        if (has_parts(child)) next.push_back(&child);
      }
    }
    std::ranges::stable_sort(next, std::ranges::greater(), nodes_in_graph);
    for (const Part* part : next) {
      num_boxes += part->children.size() - 1;
      if (num_boxes > kMaxFoldedBoxes) return opened;
      opened.insert(part);
    }
    level = std::move(next);
  }
  return opened;
}

void open_levels(const Part& part, int64_t depth, std::unordered_set<const Part*>& opened) {
  if (depth <= 1) return;
  for (const Part& child : part.children) {
    if (child.is_node()) continue;
    opened.insert(&child);
    open_levels(child, depth - 1, opened);
  }
}

}  // namespace

struct Sketchbook::Border {
  std::vector<const TensorMeta*> inputs;
  std::vector<const TensorMeta*> outputs;
  std::unordered_set<std::string_view> made;
};

Sketchbook::Sketchbook(const IR& ir, const std::string& module)
    : ir_(ir), root_(fold_graph(ir, module)) {
  const size_t num_nodes = ir.nodes.size();
  for (const TensorMeta& input : ir.graph_inputs) values_.try_emplace(input.name, &input);
  for (size_t i = 0; i < num_nodes; ++i) {
    for (const TensorMeta& output : ir.nodes[i].outputs) {
      values_.try_emplace(output.name, &output);
      makers_.try_emplace(output.name, i);
    }
  }
  const auto read = [&](std::string_view name, size_t reader) {
    const auto value = values_.find(name);
    if (value != values_.end()) last_readers_[value->first] = reader;
  };
  for (size_t i = 0; i < num_nodes; ++i) {
    for (const TensorMeta& input : ir.nodes[i].inputs) read(input.name, i);
    for (const auto& [name, attribute] : ir.nodes[i].attrs) {
      for (const std::string& ref : value_refs(attribute)) read(ref, i);
    }
  }
}

// The values that enter and leave the nodes.
Sketchbook::Border Sketchbook::border_of(size_t begin, size_t end) const {
  Border border;
  std::unordered_set<std::string_view> used;
  const auto use = [&](std::string_view name) {
    const auto value = values_.find(name);
    if (value == values_.end()) return;
    const auto maker = makers_.find(name);
    const bool is_made = maker != makers_.end();
    // Use the key, which lives as long as the graph; `name` may be that of a temporary reference.
    // A value that is made later has no box yet.
    if ((is_made && maker->second >= begin) || !used.insert(value->first).second) return;
    border.inputs.push_back(value->second);
    if (is_made) border.made.insert(value->first);
  };
  const bool is_whole = begin == 0 && end == ir_.nodes.size();
  if (is_whole) {
    for (const TensorMeta& input : ir_.graph_inputs) use(input.name);
  }
  for (size_t i = begin; i < end; ++i) {
    for (const TensorMeta& input : ir_.nodes[i].inputs) use(input.name);
    for (const auto& [name, attribute] : ir_.nodes[i].attrs) {
      for (const std::string& ref : value_refs(attribute)) use(ref);
    }
  }
  std::unordered_set<std::string_view> returned;
  for (const TensorMeta& output : ir_.graph_outputs) {
    const auto maker = makers_.find(output.name);
    const bool is_here = maker != makers_.end() && maker->second >= begin && maker->second < end;
    if (!is_whole && !is_here) continue;
    use(output.name);
    border.outputs.push_back(&output);
    returned.insert(output.name);
  }
  for (size_t i = begin; i < end && !is_whole; ++i) {
    for (const TensorMeta& output : ir_.nodes[i].outputs) {
      const auto reader = last_readers_.find(output.name);
      const bool is_read = reader != last_readers_.end() && reader->second >= end;
      if (is_read && !returned.contains(output.name)) border.outputs.push_back(&output);
    }
  }
  return border;
}

bool Sketchbook::is_folded(const Part& part, int64_t depth) {
  return !part.is_node() &&
         (depth > 0 || part.end_of_first_copy() - part.begin > kMaxUnfoldedNodes);
}

GraphSketch Sketchbook::draw(const Part& part, int64_t depth) const {
  if (!is_folded(part, depth)) return draw_nodes(part);
  const size_t end = part.end_of_first_copy();
  Border border = border_of(part.begin, end);
  View view{.begin = part.begin,
            .end = end,
            .shown_end = end,
            .inputs = std::move(border.inputs),
            .outputs = std::move(border.outputs),
            .made = std::move(border.made),
            .folded = &part};
  view.num_inputs = std::min(view.inputs.size(), kMaxFoldedTerminals);
  view.num_outputs = std::min(view.outputs.size(), kMaxFoldedTerminals);
  if (depth > 0) {
    open_levels(part, depth, view.opened);
  } else {
    view.opened = opened_for_reading(part);
  }
  return Sketcher(ir_, std::move(view)).run();
}

GraphSketch Sketchbook::draw_nodes(const Part& part, const SketchLimits& limits) const {
  const size_t end = part.end_of_first_copy();
  Border border = border_of(part.begin, end);
  View view{.begin = part.begin,
            .end = end,
            .shown_end = part.begin + shown_count(end - part.begin, limits.nodes),
            .inputs = std::move(border.inputs),
            .outputs = std::move(border.outputs),
            .made = std::move(border.made),
            .shifts = part.is_node() ? part.shifts : part.children[0].shifts};
  view.num_inputs = shown_count(view.inputs.size(), limits.inputs);
  view.num_outputs = shown_count(view.outputs.size(), limits.outputs);
  return Sketcher(ir_, std::move(view)).run();
}

GraphSketch sketch_graph(const IR& ir, const SketchLimits& limits) {
  const Sketchbook book(ir);
  return book.draw_nodes(book.root(), limits);
}

bool includes(const BoxNodes& nodes, size_t node) {
  return std::ranges::any_of(nodes.shifts, [&](size_t shift) {
    return node >= nodes.begin + shift && node < nodes.end + shift;
  });
}

}  // namespace torch_ir
