#include "torch_ir/visualize/sketch.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "torch_ir/base/text.h"
#include "torch_ir/visualize/labels.h"

namespace torch_ir {
namespace {

constexpr size_t kMaxShapesInDetail = 4;
constexpr size_t kMaxShapesOfArrow = 2;
// If parts are folded: the boxes at which no more parts are opened; inputs; outputs.
constexpr size_t kMaxFoldedBoxes = 30;
constexpr int64_t kMaxFoldedTerminals = 12;

size_t shown_count(size_t size, int64_t limit) {
  return std::min(size, static_cast<size_t>(std::max<int64_t>(limit, 0)));
}

std::string output_shapes_text(const Graph& graph, const Node& node) {
  std::vector<std::string> shapes;
  for (const ValueId output : node.outputs) shapes.push_back(shape_text(graph[output]));
  return listed(shapes, kMaxShapesInDetail);
}

}  // namespace

// Draws one part of a graph.
class Sketcher {
 public:
  Sketcher(const Sketchbook& book, const Part& part, const SketchLimits& limits)
      : book_(book),
        graph_(book.graph_),
        part_(part),
        end_(part.end_of_first_copy()),
        limits_(limits),
        boxes_(part.num_nodes()) {
    find_border();
  }

  GraphSketch draw_nodes() && {
    draw_inputs();
    const std::vector<size_t>& shifts = part_.is_node() ? part_.shifts : part_.children[0].shifts;
    const size_t shown_end = part_.begin + shown_count(end_ - part_.begin, limits_.nodes);
    for (size_t i = part_.begin; i < shown_end; ++i) {
      draw_part({.begin = i, .end = i + 1, .shifts = shifts});
    }
    draw_hidden_nodes(shown_end);
    draw_outputs();
    return std::move(sketch_);
  }

  // One arrow stands for all values from one box to another. Weights are not drawn.
  GraphSketch draw_parts(std::unordered_set<const Part*> opened) && {
    is_folded_ = true;
    opened_ = std::move(opened);
    draw_inputs();
    for (const Part& child : part_.children) draw_part(child);
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

  struct MergedArrow {
    std::string from;
    std::string to;
    std::vector<std::string> labels;
  };

  // Whether no node makes the value, or one before this one.
  bool is_made_before(ValueId id, size_t node) const {
    const std::optional<uint32_t>& producer = graph_[id].producer;
    return !producer || *producer < node;
  }

  // Finds the values that enter and leave the nodes.
  void find_border() {
    std::unordered_set<ValueId> used;
    const auto use = [&](ValueId id) {
      if (book_.is_weight_[id] || !is_made_before(id, part_.begin)) return;
      if (used.insert(id).second) inputs_.push_back(id);
    };
    const bool is_whole = part_.begin == 0 && end_ == graph_.nodes.size();
    if (is_whole) std::ranges::for_each(graph_.user_inputs(), use);
    for (size_t i = part_.begin; i < end_; ++i) graph_.nodes[i].for_each_read(use);
    std::unordered_set<ValueId> returned;
    for (const ValueId output : graph_.outputs) {
      const bool is_here = is_made_before(output, end_) && !is_made_before(output, part_.begin);
      if (!is_whole && !is_here) continue;
      use(output);
      outputs_.push_back(output);
      returned.insert(output);
    }
    for (size_t i = part_.begin; i < end_ && !is_whole; ++i) {
      for (const ValueId output : graph_.nodes[i].outputs) {
        const std::vector<uint32_t>& readers = graph_[output].readers;
        const bool is_read = !readers.empty() && readers.back() >= end_;
        if (is_read && !returned.contains(output)) outputs_.push_back(output);
      }
    }
  }

  const Source* find_source(ValueId id) const {
    const auto found = sources_.find(id);
    return found == sources_.end() ? nullptr : &found->second;
  }

  void add_box(Box box) { sketch_.emplace_back(std::move(box)); }

  void add_arrow(const std::string& from, const std::string& to, const std::string& label,
                 bool from_weight = false) {
    sketch_.emplace_back(Arrow{from, to, label, from_weight});
  }

  // Adds a box for `count` more of `what` (a plural in -s); returns its identifier.
  std::string add_note(size_t count, std::string_view what) {
    std::string id = ids_.make("more_", what);
    if (count == 1) what.remove_suffix(1);
    add_box({.kind = BoxKind::kNote,
             .id = id,
             .title = "... " + std::to_string(count) + " more " + std::string(what) + " ..."});
    return id;
  }

  void draw_inputs() {
    const size_t num_shown = shown_count(inputs_.size(), limits_.inputs);
    for (size_t i = 0; i < num_shown; ++i) {
      const Value& input = graph_[inputs_[i]];
      const std::string id = ids_.make("input_", input.name);
      add_box({.kind = BoxKind::kInput,
               .id = id,
               .title = (input.producer ? "From: " : "Input: ") + printable_name(input.name),
               .detail = shape_text(input),
               .name = input.name});
      sources_.try_emplace(inputs_[i], Source{id});
    }
    if (num_shown == inputs_.size()) return;
    const std::string note = add_note(inputs_.size() - num_shown, "inputs");
    for (size_t i = num_shown; i < inputs_.size(); ++i) {
      sources_.try_emplace(inputs_[i], Source{note, /*is_shown=*/false});
    }
  }

  void draw_outputs() {
    const size_t num_shown = shown_count(outputs_.size(), limits_.outputs);
    for (size_t i = 0; i < num_shown; ++i) {
      const Value& output = graph_[outputs_[i]];
      const std::string id = ids_.make("output_", std::to_string(i));
      add_box({.kind = BoxKind::kOutput,
               .id = id,
               .title = outputs_.size() == 1 ? "Output" : "Output: " + printable_name(output.name),
               .detail = shape_text(output),
               .name = output.name});
      draw_use(outputs_[i], id, "");
    }
    const size_t num_hidden = outputs_.size() - num_shown;
    if (num_hidden > 0) add_note(num_hidden, "outputs");
  }

  // Draws one note for the hidden nodes, with arrows from everything shown that they use.
  void draw_hidden_nodes(size_t shown_end) {
    if (shown_end == end_) return;
    const std::string note = add_note(end_ - shown_end, "nodes");
    for (size_t i = shown_end; i < end_; ++i) {
      for (const ValueId input : graph_.nodes[i].inputs()) {
        const Source* source = find_source(input);
        if (source == nullptr || !source->is_shown || !is_new(input, note)) continue;
        add_arrow(source->id, note, arrow_label(input));
      }
      index_outputs(i, note, /*is_shown=*/false);
    }
  }

  void draw_part(const Part& part) {
    const std::string title =
        printable_name(part.title) + (part.copies == 1 ? "" : " ×" + std::to_string(part.copies));
    if (part.is_node()) {
      const Node& node = graph_.nodes[part.begin];
      const std::string label = operator_label(node.target);
      const std::string id = ids_.make("op_", node.name);
      add_box({.kind = BoxKind::kOperator,
               .id = id,
               // A node may be a whole module.
               .title = printable_name(part.title.empty() ? label : part.title + ": " + label),
               .detail = output_shapes_text(graph_, node),
               .name = node.name,
               .nodes = part.equal_nodes(),
               .group = group_of(part)});
      connect(part.begin, id, part.begin);
    } else if (opened_.contains(&part)) {
      // Nodes that are merely drawn together get no frame.
      const bool is_framed = part.is_module || part.copies > 1;
      if (is_framed) sketch_.emplace_back(PartFrame{ids_.make("in_", part.title), title});
      if (is_framed) ++num_frames_;
      for (const Part& child : part.children) draw_part(child);
      if (is_framed) --num_frames_;
      if (is_framed) sketch_.emplace_back(PartFrameEnd());
      // The first copy stands for the others. Values from one copy to the next are not drawn.
      for (size_t i = part.end_of_first_copy(); i < part.end; ++i) {
        const size_t in_first = part.begin + (i - part.begin) % (part.num_nodes() / part.copies);
        connect(i, boxes_[in_first - part_.begin], part.begin);
      }
    } else {
      const std::string id = ids_.make("part_", part.title);
      add_box({.kind = BoxKind::kModule,
               .id = id,
               .title = title,
               .detail = std::to_string(part.num_nodes()) + " nodes",
               .name = part.title,
               .nodes = part.equal_nodes(),
               .part = &part,
               .group = group_of(part)});
      for (size_t i = part.begin; i < part.end; ++i) connect(i, id, i);
    }
  }

  std::string group_of(const Part& part) const {
    const std::vector<std::string>& groups = book_.groups_;
    if (groups.empty() || num_frames_ > 0) return "";
    const std::span nodes = std::span(groups).first(part.end_of_first_copy()).subspan(part.begin);
    return std::ranges::count(nodes, nodes.front()) == std::ssize(nodes) ? nodes.front() : "";
  }

  // Draws an arrow to `box` for each value that the node reads and that is made before `begin`.
  // From then on, its outputs come from `box`.
  void connect(size_t index, const std::string& box, size_t begin) {
    const Node& node = graph_.nodes[index];
    for (const ValueId input : node.inputs()) {
      if (is_made_before(input, begin)) draw_use(input, box, arrow_label(input));
    }
    for (const Argument& argument : node.arguments) {
      for (const ValueId number : argument.numbers) {
        if (!is_made_before(number, begin) || !is_new(number, box)) continue;
        draw_arrow(*find_source(number), box, argument.name);
      }
    }
    boxes_[index - part_.begin] = box;
    index_outputs(index, box, /*is_shown=*/true);
  }

  void index_outputs(size_t index, const std::string& id, bool is_shown) {
    const std::vector<ValueId>& outputs = graph_.nodes[index].outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const bool is_numbered = outputs.size() > 1 && !is_folded_;
      const auto output = is_numbered ? std::optional(i) : std::nullopt;
      sources_.try_emplace(outputs[i], Source{id, is_shown, output});
    }
  }

  std::string arrow_label(ValueId id) const {
    const Source* source = find_source(id);
    std::string label = shape_text(graph_[id]);
    if (source == nullptr || !source->output) return label;
    return "out " + std::to_string(*source->output) + ": " + label;
  }

  // Values without a source are weights, which get a box at their first use.
  void draw_use(ValueId id, const std::string& to, const std::string& label) {
    if (const Source* source = find_source(id)) {
      if (!is_folded_ || is_new(id, to)) draw_arrow(*source, to, label);
    } else if (!is_folded_) {
      const auto [entry, is_first] = weight_ids_.try_emplace(id);
      if (is_first) {
        const Value& weight = graph_[id];
        entry->second = ids_.make("w_", weight.name);
        add_box({.kind = BoxKind::kWeight,
                 .id = entry->second,
                 .title = printable_name(weight.name),
                 .detail = shape_text(weight),
                 .name = weight.name});
      }
      add_arrow(entry->second, to, label, /*from_weight=*/true);
    }
  }

  void draw_arrow(const Source& source, const std::string& to, const std::string& label) {
    if (!is_folded_) return add_arrow(source.id, to, label);
    if (source.id == to) return;
    const auto [entry, is_first] = merged_.try_emplace(source.id + '\n' + to, arrows_.size());
    if (is_first) arrows_.push_back({source.id, to, {}});
    if (!label.empty()) arrows_[entry->second].labels.push_back(label);
  }

  void draw_merged_arrows() {
    for (const MergedArrow& arrow : arrows_) {
      std::vector<std::string> different;
      for (const std::string& label : arrow.labels) {
        if (std::ranges::find(different, label) == different.end()) different.push_back(label);
      }
      std::string label = listed(different, kMaxShapesOfArrow);
      if (different.size() == 1 && arrow.labels.size() > 1) {
        label = std::to_string(arrow.labels.size()) + " × " + label;
      }
      add_arrow(arrow.from, arrow.to, label);
    }
  }

  // Whether this is the first use of the value by the box.
  bool is_new(ValueId value, const std::string& to) { return uses_.emplace(value, to).second; }

  const Sketchbook& book_;
  const Graph& graph_;
  const Part& part_;
  const size_t end_;
  const SketchLimits limits_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  bool is_folded_ = false;
  int num_frames_ = 0;
  std::unordered_set<const Part*> opened_;
  // By position in the part.
  std::vector<std::string> boxes_;
  std::unordered_map<ValueId, Source> sources_;
  Identifiers ids_;
  std::unordered_map<ValueId, std::string> weight_ids_;
  std::vector<MergedArrow> arrows_;
  // Positions in arrows_, by both boxes; and values with the box that they enter.
  std::unordered_map<std::string, size_t> merged_;
  std::set<std::pair<ValueId, std::string>> uses_;
  GraphSketch sketch_;
};

namespace {

// Whether `part` is a repeat of nodes, or contains modules or repeats.
bool has_parts(const Part& part) {
  return (part.copies > 1 && !part.is_module) ||
         std::ranges::any_of(part.children, [](const Part& child) {
           return !child.is_node() && (child.is_module || child.copies > 1);
         });
}

// Opens `depth` levels of parts; or, without a depth, the largest parts of each level as long as
// few boxes are shown.
std::unordered_set<const Part*> opened_parts(const Part& root, int64_t depth) {
  std::unordered_set<const Part*> opened;
  const auto nodes_in_graph = [](const Part* part) {
    return part->num_nodes() * part->shifts.size();
  };
  size_t num_boxes = root.children.size();
  std::vector<const Part*> level = {&root};
  for (int64_t i = 1; i != depth && !level.empty(); ++i) {
    std::vector<const Part*> next;
    for (const Part* part : level) {
      for (const Part& child : part->children) {
        if (depth == 0 ? has_parts(child) : !child.is_node()) next.push_back(&child);
      }
    }
    std::ranges::stable_sort(next, std::ranges::greater(), nodes_in_graph);
    for (const Part* part : next) {
      num_boxes += part->children.size() - 1;
      if (depth == 0 && num_boxes > kMaxFoldedBoxes) return opened;
      opened.insert(part);
    }
    level = std::move(next);
  }
  return opened;
}

}  // namespace

Sketchbook::Sketchbook(const Program& graph, const std::string& module,
                       const std::vector<std::string>& traits, std::vector<std::string> groups)
    : graph_(graph),
      root_(fold_graph(graph, module, traits)),
      groups_(std::move(groups)),
      is_weight_(graph.values.size()) {
  for (const GraphInput& input : graph.inputs) {
    is_weight_[input.value] = input.kind != InputKind::kUserInput;
  }
}

bool Sketchbook::is_folded(const Part& part, int64_t depth) {
  return !part.is_node() &&
         (depth > 0 || part.end_of_first_copy() - part.begin > kMaxUnfoldedNodes);
}

GraphSketch Sketchbook::draw(const Part& part, int64_t depth) const {
  if (!is_folded(part, depth)) return draw_nodes(part);
  Sketcher sketcher(*this, part, {.inputs = kMaxFoldedTerminals, .outputs = kMaxFoldedTerminals});
  return std::move(sketcher).draw_parts(opened_parts(part, depth));
}

GraphSketch Sketchbook::draw_nodes(const Part& part, const SketchLimits& limits) const {
  return Sketcher(*this, part, limits).draw_nodes();
}

}  // namespace torch_ir
