// torch-ir visualize: draws a graph.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <string_view>

#include "torch_ir/base/error.h"
#include "torch_ir/cli/command.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/visualize/dot.h"
#include "torch_ir/visualize/mermaid.h"
#include "torch_ir/visualize/svg.h"

namespace torch_ir {
namespace {

struct VisualizeArguments {
  std::string file;
  std::string program;
  std::string output;
  MermaidOptions options;
};

void check_ending(const std::string& path) {
  constexpr std::string_view kEndings[] = {".mmd", ".svg", ".png", ".dot"};
  const auto is_ending = [&](std::string_view ending) { return path.ends_with(ending); };
  if (path.empty() || std::ranges::any_of(kEndings, is_ending)) return;
  throw Error("unknown format of '" + path +
              "'; expected a name that ends in .mmd, .svg, .png or .dot");
}

// The ending of the file name decides the format.
std::string draw(const Program& program, const VisualizeArguments& arguments, Console& console) {
  const std::string& path = arguments.output;
  if (path.ends_with(".dot")) return draw_dot(program, arguments.options);
  if (path.empty() || path.ends_with(".mmd")) return draw_mermaid(program, arguments.options).text;
  // The user asked for this picture, so the limit is generous.
  const SvgOptions options = {
      .max_nodes = arguments.options.max_nodes,
      .module = arguments.options.module,
      .depth = arguments.options.depth,
      .graphviz = {.time_limit = std::chrono::hours(1),
                   .on_warning = [&console](const std::string& text) { console.warn(text); }}};
  return draw_picture(program, path.substr(path.size() - 3), options);
}

int run_visualize(const VisualizeArguments& arguments, Console& console) {
  refuse_to_overwrite(arguments.output, {arguments.file});
  check_ending(arguments.output);
  const GraphFile shown =
      load_graph_file(arguments.file, arguments.program, WeightBytes::kUnread, &console);
  const Program& program = *shown.content.program;
  write_result(arguments.output, draw(program, arguments, console), console);
  return kDone;
}

void declare_visualize(CLI::App& parser, VisualizeArguments& arguments) {
  add_graph_argument(parser, arguments.file, arguments.program);
  add_file_option(parser, "-o,--output", arguments.output,
                  "Write to this file: .mmd (Mermaid), .svg, .png or .dot (Graphviz)");
  add_count_option(parser, "--max-nodes", arguments.options.max_nodes,
                   "Draw the first N nodes, without modules, and count the rest");
  parser
      .add_option("--module", arguments.options.module,
                  "Draw the inside of this module, such as encoder.layers.0")
      ->type_name("PATH");
  add_count_option(parser, "--depth", arguments.options.depth,
                   "Draw modules with N levels opened (default: as many as are readable)");
  parser.get_option("--depth")->excludes(parser.get_option("--max-nodes"));
}

}  // namespace

Command visualize_command() {
  return {.name = "visualize",
          .summary = "Draw a graph or its modules, as Mermaid text or as a picture by Graphviz",
          .examples =
              "  torch-ir visualize model.json\n"
              "  torch-ir visualize model.json -o graph.svg\n"
              "  torch-ir visualize model.json --max-nodes 50 -o graph.mmd\n"
              "  torch-ir visualize model.json --module encoder.layers.0 -o layer.svg\n",
          .declare = with_arguments(declare_visualize, run_visualize)};
}

}  // namespace torch_ir
