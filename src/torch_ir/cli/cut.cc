// torch-ir cut: writes parts of a model as cases: nodes, modules, ranges, or each different call.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>
#include <set>
#include <string_view>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/suggestion.h"
#include "torch_ir/base/text.h"
#include "torch_ir/base/work_directory.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/cases/split.h"
#include "torch_ir/cli/command.h"
#include "torch_ir/cli/execution.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/ir/module_paths.h"

namespace torch_ir {
namespace {

struct CutArguments {
  std::vector<std::string> files;
  // These, and the parts, for a single file only.
  ExecutionArguments execution;
  std::vector<std::string> nodes;
  std::vector<std::string> modules;
  std::string from;
  std::string to;
  std::string output;

  size_t num_parts() const { return nodes.size() + modules.size() + (from.empty() ? 0 : 1); }
};

// The number of a node, by its name or that of a value that it makes.
size_t index_of(const Program& program, const std::string& name) {
  std::vector<std::string> names;
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    if (program.nodes[i].name == name) return i;
    for (const ValueId output : program.nodes[i].outputs) {
      if (program[output].name == name) return i;
    }
    names.push_back(program.nodes[i].name);
  }
  throw Error("unknown node '" + printable(name) + "'" + suggest(name, names));
}

NodeGroup module_group(const Program& program, const std::string& module) {
  NodeGroup group{.name = "module " + module};
  const std::vector<std::string> paths = module_paths(program);
  for (size_t i = 0; i < paths.size(); ++i) {
    const bool is_inside = paths[i] == module || paths[i].starts_with(module + ".");
    if (is_inside) group.nodes.push_back(program.nodes[i].name);
  }
  if (group.nodes.empty()) {
    throw Error("no node is in a module '" + printable(module) + "'" + suggest(module, paths));
  }
  return group;
}

// Makes the parts groups, of which each is a case.
void choose_parts(const CutArguments& arguments, SplitModel& model) {
  const Program& program = *model.content.program;
  for (const std::string& name : arguments.nodes) {
    model.only.insert(program.nodes[index_of(program, name)].name);
  }
  for (const std::string& module : arguments.modules) {
    model.groups.push_back(module_group(program, module));
  }
  if (!arguments.from.empty()) {
    const size_t first = index_of(program, arguments.from);
    const size_t last = index_of(program, arguments.to);
    if (first > last) {
      throw Error(fmt::format("--from '{}' is node {}, after --to '{}', node {}",
                              printable(arguments.from), first, printable(arguments.to), last));
    }
    NodeGroup& group = model.groups.emplace_back(
        NodeGroup{.name = fmt::format("{} to {}", arguments.from, arguments.to)});
    for (size_t i = first; i <= last; ++i) group.nodes.push_back(program.nodes[i].name);
  }
  for (const NodeGroup& group : model.groups) model.only.insert(group.name);
  model.keeps_equal = !model.only.empty();
}

// Writes the part as a case, in a folder that may have another case, which stays if that fails.
void write_part(const SuiteCase& part, const std::string& folder) {
  const std::vector<std::string> names = {kCaseInputs, kCaseWeights, kCaseExpected, kCaseGraph};
  remove_stale_work_directories(folder);
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    if (std::ranges::find(names, name) != names.end()) continue;
    throw Error(fmt::format("'{}' holds '{}', which is not part of a case; use an empty folder",
                            printable(folder), printable(name)));
  }
  const WorkDirectory unfinished(folder);
  save_case(part.content, unfinished.path().string());
  move_files(unfinished.path(), folder, names);
}

std::string model_name(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

// The folder that is written to loses the case or the suite that it holds: no input may be in it.
void refuse_inputs_in_output(const CutArguments& arguments) {
  namespace fs = std::filesystem;
  const auto real_path = [](const std::string& path) {
    std::error_code ignored;
    return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  };
  std::vector<std::string> inputs = arguments.files;
  inputs.push_back(arguments.execution.weights.path);
  inputs.push_back(arguments.execution.inputs);
  for (const std::string& input : inputs) {
    if (input.empty()) continue;
    const fs::path inside = real_path(input).lexically_relative(real_path(arguments.output));
    if (inside.empty() || *inside.begin() == "..") continue;
    throw Error(arguments.output + ": writing there would overwrite the input '" + input +
                "'; write elsewhere");
  }
}

int run_cut(const CutArguments& arguments, Console& console) {
  const bool has_tensors =
      !arguments.execution.inputs.empty() || !arguments.execution.weights.path.empty();
  if (arguments.files.size() > 1 && (has_tensors || arguments.num_parts() > 0)) {
    throw Error(
        "parts, --inputs and --weights belong to one graph, but several are given; cut them one "
        "by one");
  }
  if (arguments.from.empty() != arguments.to.empty()) throw Error("give both --from and --to");
  refuse_inputs_in_output(arguments);
  std::set<std::string> names;
  for (const std::string& file : arguments.files) {
    if (!names.insert(model_name(file)).second) {
      throw Error("duplicate model name '" + model_name(file) +
                  "': cases are named by their models; rename one of the files");
    }
  }
  const bool is_suite = arguments.num_parts() != 1;
  std::optional<SuiteWriter> writer;
  if (is_suite) {
    writer.emplace(arguments.output,
                   names.size() == 1 ? *names.begin() : fmt::format("{} models", names.size()));
  }
  Splitter splitter;
  std::vector<std::string> left_out;
  for (const std::string& file : arguments.files) {
    ExecutionArguments execution = arguments.execution;
    execution.file = file;
    execution.makes_up_values = true;
    run_graph_file(execution, console, [&](const RunnableGraph& graph) {
      SplitModel model{
          .name = model_name(file), .content = graph.content, .source_lines = graph.source_lines};
      choose_parts(arguments, model);
      const std::string text = splitter.add(model, [&](const SuiteCase& part) {
        is_suite ? write_case(part, writer->unfinished()) : write_part(part, arguments.output);
      });
      if (!text.empty()) left_out.push_back(file + ": " + text);
    });
  }
  for (const std::string& text : left_out) console.fail(text);
  if (splitter.cases().empty()) return kDifferent;
  if (is_suite) writer->finish(splitter.cases());
  int64_t num_calls = 0;
  for (const CaseInfo& info : splitter.cases()) num_calls += std::ssize(info.occurrences);
  if (arguments.num_parts() > 0) num_calls = static_cast<int64_t>(arguments.num_parts());
  console.talk() << fmt::format("{}: {} of {}\n", arguments.output,
                                counted(std::ssize(splitter.cases()), "case"),
                                counted(num_calls, arguments.num_parts() > 0 ? "part" : "call"));
  const bool has_all = arguments.num_parts() <= splitter.cases().size();
  if (!has_all && left_out.empty()) {
    console.fail("not every part became a case: it shares a node with another, or has no tensor");
  }
  return left_out.empty() && has_all ? kDone : kDifferent;
}

void declare_cut(CLI::App& parser, CutArguments& arguments) {
  parser.add_option("FILE", arguments.files, "The graphs: IR JSON, or archives (.pt2)")
      ->required()
      ->type_name("");
  const auto several = [&](const char* flag, std::vector<std::string>& values, const char* text) {
    parser.add_option(flag, values, text)->type_name("NAME ...")->allow_extra_args(false);
  };
  several("--node", arguments.nodes, "Cut out this node");
  several("--module", arguments.modules, "Cut out the nodes of this module: layers.7.mlp");
  parser.add_option("--from", arguments.from, "Cut out the nodes from this one")->type_name("NAME");
  parser.add_option("--to", arguments.to, "to this one")->type_name("NAME");
  add_program_option(parser, arguments.execution.program);
  parser
      .add_option("-o,--output", arguments.output,
                  "Folder for the case or cases, which may hold nothing else")
      ->required()
      ->type_name("DIR");
  add_weights_options(parser, arguments.execution.weights,
                      "Weights: .safetensors, .pt (default: the archive's, or generated)");
  add_file_option(parser, "--inputs", arguments.execution.inputs,
                  "Inputs: .safetensors (default: the archive's examples, or generated)");
}

}  // namespace

Command cut_command() {
  return {.name = "cut",
          .summary = "Write a node, a module, or each different call as a case, with its tensors",
          .examples =
              "  torch-ir cut model.pt2 --node silu_7 -o silu_7\n"
              "  torch-ir cut model.pt2 --module layers.7.mlp -o mlp\n"
              "  torch-ir cut model.pt2 -o cases        each different call\n"
              "  harness --ir mlp --executor 'my_sim {ir} {weights} {inputs} {outputs}'\n",
          .declare = with_arguments(declare_cut, run_cut)};
}

}  // namespace torch_ir
