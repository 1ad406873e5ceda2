#include "torch_ir/visualize/graph_data.h"

#include <ATen/core/enum_tag.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "torch_ir/analysis/multiply_adds.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/module_paths.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/operators/operator_table.h"
#include "torch_ir/visualize/sketch.h"

namespace torch_ir {
namespace {

using Json = nlohmann::ordered_json;

// The kind of an operator, by which boxes can be coloured.
std::string_view kind_name(std::string_view op_type) {
  const MultiplyAdds formula = find_formula(op_type);
  if (formula != nullptr && formula != no_multiply_adds) return "convolution, matmul";
  const auto op = find_operator(op_type);
  if (!op) return "other";
  if (op->hasTag(at::Tag::pointwise)) return "pointwise";
  if (facts_of(op_type).is_reduction) return "reduction";
  if (op->operator_name().name.find("norm") != std::string::npos) return "normalization";
  return is_view(op->schema()) ? "view" : "other";
}

Json argument_json(const Argument& argument) {
  Json value;
  if (const auto* attribute = std::get_if<Attribute>(&argument.value)) {
    value = attribute_text(*attribute);
  } else if (const auto* list = std::get_if<ValueList>(&argument.value)) {
    value = Json::array();
    for (const auto& id : *list) value.push_back(id ? Json(*id) : Json());
  } else {
    value = std::get<ValueId>(argument.value);
  }
  return {argument.name, value};
}

Json nodes_json(const Program& graph) {
  const std::vector<std::string> modules = module_paths(graph);
  Json nodes = Json::array();
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    Json arguments = Json::array();
    for (const Argument& argument : node.arguments) arguments.push_back(argument_json(argument));
    nodes.push_back({node.name, node.target, kind_name(node.target), modules[i], node.origin.source,
                     std::move(arguments), node.outputs});
  }
  return nodes;
}

// The first and the last node of each run: [3, 8, 13, 18].
Json runs_json(const std::vector<size_t>& nodes) {
  Json runs = Json::array();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i == 0 || nodes[i] != nodes[i - 1] + 1) runs.push_back(nodes[i]);
    if (i + 1 == nodes.size() || nodes[i + 1] != nodes[i] + 1) runs.push_back(nodes[i]);
  }
  return runs;
}

// By BoxKind.
constexpr std::string_view kBoxKinds[] = {"input", "node", "module", "weight", "output", "note"};

// The numbers in a text of Graphviz, "e,27,18 27,72", with y pointing down.
std::vector<int64_t> points_of(std::string_view text, int64_t height) {
  std::vector<int64_t> points;
  std::string numbers(text.substr(text.starts_with("e,") ? 2 : 0));
  for (char& c : numbers) c = c == ',' ? ' ' : c;
  std::istringstream stream(numbers);
  for (double number = 0; stream >> number;) {
    const int64_t rounded = std::llround(number);
    points.push_back(points.size() % 2 == 0 ? rounded : height - rounded);
  }
  return points;
}

// One graph as `dot -Tjson0` lays it out.
Json level_json(const nlohmann::json& layout, const GraphSketch& sketch,
                const std::unordered_map<const Part*, size_t>& levels) {
  const auto text = [](const nlohmann::json& object, const char* key) {
    return object.value(key, std::string());
  };
  const auto inches = [&](const nlohmann::json& object, const char* key) {
    return std::llround(std::stod(text(object, key)) * 72);
  };
  std::unordered_map<std::string_view, const Box*> boxes;
  for (const auto& mark : sketch) {
    if (const Box* box = std::get_if<Box>(&mark)) boxes.emplace(box->id, box);
  }
  const std::vector<int64_t> size = points_of(text(layout, "bb"), 0);
  const int64_t height = size.size() < 4 ? 0 : -size[3];
  Json level = {{"size", {size.size() < 4 ? 0 : size[2], height}},
                {"boxes", Json::array()},
                {"arrows", Json::array()},
                {"groups", Json::array()}};
  // The frames of groups are the first objects.
  const size_t num_groups = layout.value("_subgraph_cnt", size_t{0});
  const auto box_index = [&](const nlohmann::json& object) {
    return object.get<size_t>() - num_groups;
  };
  for (const auto& object : layout.value("objects", nlohmann::json::array())) {
    if (level["groups"].size() < num_groups) {
      Json inside = Json::array();
      for (const auto& box : object.at("nodes")) inside.push_back(box_index(box));
      level["groups"].push_back({text(object, "label"), std::move(inside)});
      continue;
    }
    const Box& box = *boxes.at(object.at("name").get_ref<const std::string&>());
    const std::vector<int64_t> middle = points_of(text(object, "pos"), height);
    level["boxes"].push_back({kBoxKinds[static_cast<size_t>(box.kind)], box.title, box.detail,
                              middle.at(0), middle.at(1), inches(object, "width"),
                              inches(object, "height"), runs_json(box.nodes),
                              box.part ? levels.at(box.part) : 0});
  }
  for (const auto& edge : layout.value("edges", nlohmann::json::array())) {
    level["arrows"].push_back({box_index(edge.at("tail")), box_index(edge.at("head")),
                               text(edge, "label"), points_of(text(edge, "lp"), height),
                               points_of(text(edge, "pos"), height)});
  }
  return level;
}

Json levels_json(const Program& program, const SvgOptions& options) {
  const Sketchbook book(program, /*module=*/"", options.traits, options.groups);
  std::vector<const Part*> parts = {&book.root()};
  std::unordered_map<const Part*, size_t> levels;
  std::vector<GraphSketch> sketches;
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    const GraphSketch& sketch = sketches.emplace_back(book.draw(*parts[i], /*depth=*/1));
    for (const auto& mark : sketch) {
      const Box* box = std::get_if<Box>(&mark);
      if (box == nullptr || box->part == nullptr) continue;
      levels.emplace(box->part, parts.size());
      parts.push_back(box->part);
    }
    text += write_dot("", sketch, {.layout = std::string(kFoldedLayout), .is_plain = true});
  }
  std::istringstream layouts(run_graphviz(text, "json0", options.graphviz));
  Json json = Json::array();
  for (const GraphSketch& sketch : sketches) {
    nlohmann::json layout;
    layouts >> layout;
    json.push_back(level_json(layout, sketch, levels));
  }
  return json;
}

}  // namespace

std::string graph_data(const Program& program, const SvgOptions& options) {
  Json values = Json::array();
  for (const Value& value : program.values) {
    values.push_back({value.name, shape_text(value), dtype_name(value.dtype)});
  }
  Json weights = Json::array();
  for (const GraphInput& input : program.inputs) {
    if (input.kind != InputKind::kUserInput) weights.push_back({input.value, input.target});
  }
  const Json json = {{"nodes", nodes_json(program)},
                     {"values", values},
                     {"weights", weights},
                     {"levels", levels_json(program, options)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace torch_ir
