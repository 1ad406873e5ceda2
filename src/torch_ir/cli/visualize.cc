// torch-ir visualize: a graph as a picture.

#include <CLI/CLI.hpp>
#include <chrono>
#include <string_view>
#include <utility>

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

// A picture is for who asked for it: it may take as long as it takes.
SvgOptions picture_options(const MermaidOptions& options, Console& console) {
  return {.max_nodes = static_cast<size_t>(options.max_nodes),
          .time_limit = std::chrono::hours(1),
          .on_warning = [&console](const std::string& text) { console.warn(text); }};
}

using Renderer = std::string (*)(const IR&, const MermaidOptions&, Console&);

std::string draw_mermaid(const IR& ir, const MermaidOptions& options, Console&) {
  return ir_to_mermaid(ir, options);
}

// By the ending of the file's name.
const std::pair<std::string_view, Renderer> kRenderers[] = {
    {".mmd", draw_mermaid},
    {".svg", [](const IR& ir, const MermaidOptions& options,
                Console& console) { return ir_to_svg(ir, picture_options(options, console)); }},
    {".png", [](const IR& ir, const MermaidOptions& options,
                Console& console) { return ir_to_png(ir, picture_options(options, console)); }},
    {".dot",
     [](const IR& ir, const MermaidOptions& options, Console&) { return ir_to_dot(ir, options); }},
};

Renderer find_renderer(const std::string& path) {
  for (const auto& [extension, render] : kRenderers) {
    if (path.ends_with(extension)) return render;
  }
  throw Error("cannot tell what to write to '" + path +
              "': its name must end in .mmd, .svg, .png or .dot");
}

int run_visualize(const VisualizeArguments& arguments, Console& console) {
  refuse_to_overwrite(arguments.output, {arguments.file});
  const Renderer render = arguments.output.empty() ? draw_mermaid : find_renderer(arguments.output);
  const IR ir = load_graph_file(arguments.file).ir;
  write_result(arguments.output, render(ir, arguments.options, console), console);
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
