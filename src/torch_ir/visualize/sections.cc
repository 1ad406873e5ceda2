#include "torch_ir/visualize/sections.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

#include "torch_ir/visualize/labels.h"

namespace torch_ir {
namespace {

class Splitter {
 public:
  Splitter(const IR& ir, size_t nodes_per_section, size_t max_nodes)
      : ir_(ir),
        nodes_per_section_(nodes_per_section),
        num_nodes_(std::min(ir.nodes.size(), max_nodes)) {
    for (const TensorMeta& input : ir.graph_inputs) values_.try_emplace(input.name, &input);
    for (size_t i = 0; i < num_nodes_; ++i) {
      for (const TensorMeta& output : ir.nodes[i].outputs) {
        values_.try_emplace(output.name, &output);
        makers_.try_emplace(output.name, i);
      }
    }
  }

  std::vector<GraphSketch> run() const {
    std::vector<GraphSketch> sketches;
    for (size_t begin = 0; begin < num_nodes_; begin += nodes_per_section_) {
      sketches.push_back(sketch(begin, std::min(begin + nodes_per_section_, num_nodes_)));
    }
    if (const size_t rest = ir_.nodes.size() - num_nodes_; rest > 0) {
      const std::string nodes = rest == 1 ? " more node ..." : " more nodes ...";
      GraphSketch note;
      note.marks.push_back(
          Box{BoxKind::kNote, "more_nodes", "... " + std::to_string(rest) + nodes, ""});
      sketches.push_back(std::move(note));
    }
    return sketches;
  }

 private:
  // Nodes [begin, end) as a graph.
  IR section(size_t begin, size_t end) const {
    IR part;
    part.nodes.assign(ir_.nodes.begin() + begin, ir_.nodes.begin() + end);
    std::unordered_set<std::string_view> used;
    const auto use = [&](std::string_view name) {
      const auto value = values_.find(name);
      if (value == values_.end()) return;
      const auto maker = makers_.find(name);
      const bool is_made_here = maker != makers_.end() && maker->second >= begin;
      // The key lives as long as the graph; `name` may be that of a reference that does not.
      if (!is_made_here && used.insert(value->first).second)
        part.graph_inputs.push_back(*value->second);
    };
    if (begin == 0) {
      for (const TensorMeta& input : ir_.graph_inputs) use(input.name);
    }
    for (const OpNode& node : part.nodes) {
      for (const TensorMeta& input : node.inputs) use(input.name);
      for (const auto& [name, attribute] : node.attrs) {
        for (const std::string& ref : value_refs(attribute)) use(ref);
      }
    }
    for (const TensorMeta& output : ir_.graph_outputs) {
      const auto maker = makers_.find(output.name);
      // What no node makes belongs to the end.
      const size_t at = maker == makers_.end() ? num_nodes_ - 1 : maker->second;
      if (at < begin || at >= end) continue;
      use(output.name);
      part.graph_outputs.push_back(output);
    }
    return part;
  }

  GraphSketch sketch(size_t begin, size_t end) const {
    GraphSketch result = sketch_graph(section(begin, end));
    const std::string prefix = "s" + std::to_string(begin / nodes_per_section_) + "_";
    for (auto& mark : result.marks) {
      if (Box* box = std::get_if<Box>(&mark)) {
        box->id.insert(0, prefix);
        retitle(*box);
      } else {
        auto& arrow = std::get<Arrow>(mark);
        arrow.from.insert(0, prefix);
        arrow.to.insert(0, prefix);
      }
    }
    return result;
  }

  // What the sketch of a section takes for inputs and outputs of the whole graph.
  void retitle(Box& box) const {
    if (box.kind == BoxKind::kInput && makers_.contains(box.name)) {
      box.title = "From: " + printable_name(box.name);
    } else if (box.kind == BoxKind::kOutput && ir_.graph_outputs.size() > 1) {
      box.title = "Output: " + printable_name(box.name);
    }
  }

  const IR& ir_;
  const size_t nodes_per_section_;
  const size_t num_nodes_;
  std::unordered_map<std::string_view, const TensorMeta*> values_;
  // The nodes that make them.
  std::unordered_map<std::string_view, size_t> makers_;
};

}  // namespace

std::vector<GraphSketch> sketch_sections(const IR& ir, size_t nodes_per_section, size_t max_nodes) {
  return Splitter(ir, nodes_per_section, max_nodes).run();
}

}  // namespace torch_ir
