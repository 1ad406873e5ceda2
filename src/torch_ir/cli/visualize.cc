// torch-ir visualize: a graph as a picture.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string_view>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/cli/commands.h"
#include "torch_ir/cli/graph_file.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/cli/output_file.h"
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

using Renderer = std::string (*)(const IR&, const MermaidOptions&, Console&);

std::string draw_mermaid(const IR& ir, const MermaidOptions& options, Console&) {
  return ir_to_mermaid(ir, options);
}

std::string draw_dot(const IR& ir, const MermaidOptions& options, Console&) {
  return ir_to_dot(ir, options);
}

// A picture is for who asked for it: it may take as long as it takes.
SvgOptions picture_options(const MermaidOptions& options, Console& console) {
  return {.max_nodes = static_cast<size_t>(options.max_nodes),
          .time_limit = std::chrono::hours(1),
          .on_warning = [&console](const std::string& text) { console.warn(text); }};
}

std::string draw_svg(const IR& ir, const MermaidOptions& options, Console& console) {
  return ir_to_svg(ir, picture_options(options, console));
}

std::string draw_png(const IR& ir, const MermaidOptions& options, Console& console) {
  return ir_to_png(ir, picture_options(options, console));
}

struct Format {
  std::string_view extension;
  Renderer render;
};

constexpr std::array<Format, 4> kFormats = {{
    {".mmd", draw_mermaid},
    {".svg", draw_svg},
    {".png", draw_png},
    {".dot", draw_dot},
}};

Renderer find_renderer(const std::string& path) {
  const auto format = std::ranges::find_if(
      kFormats, [&](const Format& known) { return path.ends_with(known.extension); });
  if (format != kFormats.end()) return format->render;
  throw Error("cannot tell what to write to '" + path +
              "': its name must end in .mmd, .svg, .png or .dot");
}

int run_visualize(const VisualizeArguments& arguments, Console& console) {
  refuse_to_overwrite(arguments.output, {arguments.file});
  const Renderer render = arguments.output.empty() ? draw_mermaid : find_renderer(arguments.output);
  const IR ir = load_graph_file(arguments.file).ir;
  const std::string picture = render(ir, arguments.options, console);
  if (arguments.output.empty()) {
    console.out() << picture;
  } else {
    write_file(arguments.output, picture);
  }
  return kDone;
}

Command::Action declare_visualize(CLI::App& parser) {
  const auto arguments = std::make_shared<VisualizeArguments>();
  add_graph_argument(parser, arguments->file);
  parser
      .add_option("-o,--output", arguments->output,
                  "Write to a file, as its name says: .mmd Mermaid, .svg, .png, .dot Graphviz")
      ->type_name("FILE");
  add_count_option(parser, "--max-nodes", arguments->options.max_nodes,
                   "Draw so many nodes and count the rest (all by default)");
  return [arguments](Console& console) { return run_visualize(*arguments, console); };
}

}  // namespace

Command visualize_command() {
  return {.name = "visualize",
          .summary = "Draw a graph: Mermaid text, or a picture by Graphviz",
          .examples =
              "  torch-ir visualize model.json\n"
              "  torch-ir visualize model.json -o graph.svg\n"
              "  torch-ir visualize model.json --max-nodes 50 -o graph.mmd\n",
          .declare = declare_visualize};
}

}  // namespace torch_ir
