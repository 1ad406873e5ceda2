// torch-ir split: writes one case for each different call of models.

#include "torch_ir/cases/split.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <ostream>
#include <set>

#include "torch_ir/base/error.h"
#include "torch_ir/base/text.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/cli/command.h"
#include "torch_ir/cli/execution.h"
#include "torch_ir/cli/options.h"

namespace torch_ir {
namespace {

struct SplitArguments {
  std::vector<std::string> files;
  // For a single file only.
  ExecutionArguments execution;
  std::string output;
};

std::string model_name(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

int run_split(const SplitArguments& arguments, Console& console) {
  const bool has_tensors =
      !arguments.execution.inputs.empty() || !arguments.execution.weights.path.empty();
  if (arguments.files.size() > 1 && has_tensors) {
    throw Error(
        "--inputs and --weights belong to one graph, but several are given; split them one by one");
  }
  std::set<std::string> names;
  for (const std::string& file : arguments.files) {
    if (!names.insert(model_name(file)).second) {
      throw Error("duplicate model name '" + model_name(file) +
                  "': cases are named by their models; rename one of the files");
    }
  }
  SuiteWriter writer(arguments.output,
                     names.size() == 1 ? *names.begin() : fmt::format("{} models", names.size()));
  Splitter splitter;
  std::vector<std::string> left_out;
  for (const std::string& file : arguments.files) {
    ExecutionArguments execution = arguments.execution;
    execution.file = file;
    execution.makes_up_values = true;
    run_graph_file(execution, console, [&](const RunnableGraph& graph) {
      const SplitModel model{
          .name = model_name(file), .content = graph.content, .source_lines = graph.source_lines};
      const std::string text = splitter.add(
          model, [&](const SuiteCase& suite_case) { write_case(suite_case, writer.unfinished()); });
      if (!text.empty()) left_out.push_back(file + ": " + text);
    });
  }
  for (const std::string& text : left_out) console.fail(text);
  if (splitter.cases().empty()) return kDifferent;
  writer.finish(splitter.cases());
  int64_t num_calls = 0;
  for (const CaseInfo& info : splitter.cases()) num_calls += std::ssize(info.occurrences);
  console.talk() << fmt::format("{}: {} of {}\n", arguments.output,
                                counted(std::ssize(splitter.cases()), "case"),
                                counted(num_calls, "call"));
  return left_out.empty() ? kDone : kDifferent;
}

void declare_split(CLI::App& parser, SplitArguments& arguments) {
  parser.add_option("FILE", arguments.files, "The graphs: IR JSON, or archives (.pt2)")
      ->required()
      ->type_name("");
  add_program_option(parser, arguments.execution.program);
  parser
      .add_option("-o,--output", arguments.output,
                  "Folder for the cases, which may hold nothing else")
      ->required()
      ->type_name("DIR");
  add_weights_options(parser, arguments.execution.weights,
                      "Weights: .safetensors, .pt (default: the archive's, or generated)");
  add_file_option(parser, "--inputs", arguments.execution.inputs,
                  "Inputs: .safetensors (default: the archive's examples, or generated)");
}

}  // namespace

Command split_command() {
  return {.name = "split",
          .summary = "Write a case, with its tensors, for each different call of models",
          .examples =
              "  torch-ir split model.pt2 -o cases\n"
              "  torch-ir split a.pt2 b.pt2 -o cases    each different call once\n"
              "  harness --ir cases --executor 'my_sim {ir} {weights} {inputs} {outputs}'\n",
          .declare = with_arguments(declare_split, run_split)};
}

}  // namespace torch_ir
