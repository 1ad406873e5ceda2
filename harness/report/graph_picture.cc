#include "harness/report/graph_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "harness/results/result_fields.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/visualize/graph_data.h"
#include "torch_ir/visualize/svg.h"

namespace torch_ir {
namespace {

void set_traits(const Result& result, const Program& program, SvgOptions& options) {
  std::unordered_map<std::string, size_t> makers;
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    makers.emplace(program.nodes[i].name, i);
    for (const ValueId id : program.nodes[i].outputs) makers.emplace(program[id].name, i);
  }
  options.traits.resize(program.nodes.size());
  const auto mark = [&](const std::string& name, std::string_view text) {
    const auto maker = makers.find(name);
    if (maker != makers.end()) options.traits[maker->second] += text;
  };
  if (result.executor) {
    for (const auto& [name, node] : result.executor->nodes) {
      mark(name, node.place + json_fields::write(node.metrics).dump());
    }
  }
  if (!result.nodes) return;
  if (result.nodes->first_divergence) {
    options.highlighted_node = result.nodes->first_divergence->node.node;
  }
  for (const NodeError& error : result.nodes->errors) {
    options.traits.at(static_cast<size_t>(error.index)) +=
        fmt::format("{} {}", error.max_diff, error.own_error.value_or(-1));
  }
  options.groups.resize(program.nodes.size());
  for (const auto& [group, nodes] : result.nodes->groups) {
    size_t first = program.nodes.size();
    for (const std::string& name : nodes) {
      const auto node = makers.find(name);
      if (node == makers.end()) continue;
      first = std::min(first, node->second);
      options.groups[node->second] = group;
      // Equal layers have equal groups.
      options.traits[node->second] +=
          fmt::format("in a group, after {} nodes", node->second - first);
    }
  }
  for (const NodeReport::Skipped& value : result.nodes->not_judged) mark(value.value, "not judged");
}

}  // namespace

GraphPicture draw_graph(const Result& result, const SourceLines& source_lines) {
  GraphPicture picture;
  if (!result.graph) return picture;
  try {
    Program program = result.program();
    for (Node& node : program.nodes) {
      const auto line = source_lines.find(node.name);
      if (line != source_lines.end()) node.origin.source = line->second;
    }
    SvgOptions options{.title = result.name};
    set_traits(result, program, options);
    std::string svg = draw_picture(program, "svg", options);
    picture = {.svg = std::move(svg), .data = graph_data(program, options)};
  } catch (const std::exception& error) {
    picture.problem = headline(error.what());
  }
  return picture;
}

GraphPicture draw_saved_graph(Result result, const std::string& file) {
  if (!std::filesystem::exists(file)) return {.problem = "its folder has no graph"};
  try {
    result.graph = load_ir(file);
  } catch (const Error& error) {
    return {.problem = headline(error.what())};
  }
  if (!result.summary || graph_fingerprint(*result.graph) != result.summary->fingerprint) {
    return {.problem = "the graph in its folder is of another run"};
  }
  return draw_graph(result);
}

}  // namespace torch_ir
