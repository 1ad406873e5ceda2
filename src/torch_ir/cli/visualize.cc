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
  std::string output;
  MermaidOptions options;
};

void check_ending(const std::string& path) {
  constexpr std::string_view kEndings[] = {".mmd", ".svg", ".png", ".dot"};
  const auto is_ending = [&](std::string_view ending) { return path.ends_with(ending); };
  if (path.empty() || std::ranges::any_of(kEndings, is_ending)) return;
  throw Error("cannot tell what to write to '" + path +
              "': its name must end in .mmd, .svg, .png or .dot");
}

// The name of the file decides the format.
std::string draw(const IR& ir, const VisualizeArguments& arguments, Console& console) {
  const std::string& path = arguments.output;
  if (path.ends_with(".dot")) return ir_to_dot(ir, arguments.options);
  const bool is_png = path.ends_with(".png");
  if (!is_png && !path.ends_with(".svg")) return ir_to_mermaid(ir, arguments.options);
  // The user asked for this picture, so it may take long.
  const SvgOptions options = {
      .max_nodes = static_cast<size_t>(arguments.options.max_nodes),
      .time_limit = std::chrono::hours(1),
      .on_warning = [&console](const std::string& text) { console.warn(text); }};
  return is_png ? ir_to_png(ir, options) : ir_to_svg(ir, options);
}

int run_visualize(const VisualizeArguments& arguments, Console& console) {
  refuse_to_overwrite(arguments.output, {arguments.file});
  check_ending(arguments.output);
  const IR ir = load_shown_graph(arguments.file, console).ir;
  write_result(arguments.output, draw(ir, arguments, console), console);
  return kDone;
}

void declare_visualize(CLI::App& parser, VisualizeArguments& arguments) {
  add_graph_argument(parser, arguments.file);
  add_file_option(parser, "-o,--output", arguments.output,
                  "Write to a file, as its name says: .mmd Mermaid, .svg, .png, .dot Graphviz");
  add_count_option(parser, "--max-nodes", arguments.options.max_nodes,
                   "Draw so many nodes and count the rest (all by default)");
}

}  // namespace

Command visualize_command() {
  return {.name = "visualize",
          .summary = "Draw a graph: Mermaid text, or a picture by Graphviz",
          .examples =
              "  torch-ir visualize model.json\n"
              "  torch-ir visualize model.json -o graph.svg\n"
              "  torch-ir visualize model.json --max-nodes 50 -o graph.mmd\n",
          .declare = with_arguments(declare_visualize, run_visualize)};
}

}  // namespace torch_ir
