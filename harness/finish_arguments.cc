#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>

#include "harness/arguments.h"
#include "harness/backend/command_backend.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/libraries/load_library.h"

namespace torch_ir {
namespace {

// The options of the run that were given.
std::vector<std::string> given_options(const CLI::App& parser) {
  std::vector<std::string> words;
  for (const CLI::Option* option : parser.get_options()) {
    if (!option->get_configurable() || option->count() == 0) continue;
    const std::string name = option->get_name();
    if (option->get_items_expected_min() == 0) {
      words.push_back(name);
      continue;
    }
    for (const std::string& result : option->results()) {
      const bool is_file = option->get_type_name() == "FILE";
      const std::string value = is_file ? typed_path(user_path(result)) : result;
      if (value.starts_with('-')) {
        words.push_back(name + "=" + value);
      } else {
        words.insert(words.end(), {name, value});
      }
    }
  }
  return words;
}

void set_against(const std::string& path, std::vector<ModelFiles>& files) {
  if (path.empty()) return;
  if (files.size() != 1) {
    throw Error(fmt::format("--against needs exactly one --pt2 or --ir, found {}", files.size()));
  }
  files.front().against = path;
}

bool is_given(const CLI::App& parser, const std::string& flag) { return parser.count(flag) > 0; }

std::string as_typed(const std::string& flag) {
  const auto* command = std::ranges::find(kHarnessCommands, flag, &HarnessCommand::flag);
  return command == kHarnessCommands.end() ? flag : command->word;
}

// No flag in `some` can be combined with one in `others`, because of `reason`.
struct Conflict {
  std::vector<std::string> some = {};
  std::vector<std::string> others = {};
  const char* reason = "";
  bool applies = true;
};

void refuse(const CLI::App& parser, const Conflict& conflict) {
  if (!conflict.applies) return;
  for (const std::string& one : conflict.some) {
    for (const std::string& other : conflict.others) {
      if (one == other || !is_given(parser, one) || !is_given(parser, other)) continue;
      throw Error(fmt::format("{} and {} cannot be combined: {}", as_typed(one), as_typed(other),
                              conflict.reason));
    }
  }
}

void check_together(const CLI::App& parser, const Arguments& arguments) {
  const std::vector<std::string> questions = {"--list-models", "--list-categories", "--supported",
                                              "--export-suite", "--compare"};
  const RunSettings& settings = arguments.harness.run.settings;
  const bool is_operators = arguments.harness.coverage.selection.suite == Suite::kOperators;
  const Conflict conflicts[] = {
      {{"--tolerance"}, {"--rtol", "--atol"}, "give either numbers or a rule"},
      {{"--compute-dtype"}, {"--tolerance", "--rtol", "--atol"}, "it has a rule of its own"},
      {{"--compute-dtype"},
       {"--optimization", "--device"},
       "the built-in runtime computes in the dtypes of the graph"},
      {{"--executor"}, {"--optimization"}, "only the built-in runtime has levels"},
      {{"--executor"}, {"--device"}, "only the built-in runtime has devices"},
      {questions, questions, "give one at a time"},
      {{"--compare"},
       {"--tolerance", "--tolerances", "--compute-dtype"},
       "kept values are compared by --rtol and --atol"},
      {questions, {"--baseline", "--against", "--write-expected-failures"}, "no model is compared"},
      {{"--list-models", "--list-categories"},
       {"--pt2", "--ir"},
       "only registered models are listed"},
      {{"--list-categories"}, {"--model", "--category"}, "all categories are listed"},
      {{"--suite"},
       {"--model", "--pt2", "--ir", "--split", "--list-models", "--supported"},
       "the operator suite has no models",
       is_operators},
      {{"--suite"},
       {"--trials", "--steps", "--seed", "--per-node", "--save-tensors", "--save-values"},
       "operator cases are single calls with fixed inputs",
       is_operators},
      {{"--scale"},
       {"--pt2", "--ir", "--executor", "--compute-dtype", "--optimization", "--device",
        "--per-node", "--save-tensors", "--save-values", "--split", "--export-suite", "--suite"},
       "full-scale models are not run",
       settings.scale == Scale::kFull}};
  for (const Conflict& conflict : conflicts) refuse(parser, conflict);
  if (!settings.carry.empty() && settings.steps == 1) throw Error("--carry needs --steps");
  for (const char* flag : {"--operator", "--dtype"}) {
    if (!is_operators && is_given(parser, flag) && !is_given(parser, "--ir")) {
      throw Error(fmt::format("{} needs --suite operators, or a suite given by --ir", flag));
    }
  }
}

// --rtol, --atol and --tolerance dtype exclude own errors, and override what models have
// registered.
void choose_criterion(const CLI::App& parser, Arguments& arguments) {
  RunSettings& settings = arguments.harness.run.settings;
  const bool has_figures = is_given(parser, "--rtol") || is_given(parser, "--atol");
  settings.tolerance.by_dtype = !has_figures;
  settings.tolerance_wins = has_figures || arguments.raw.tolerance == "dtype";
  if (settings.tolerance_wins) settings.criterion.reference = ReferenceKind::kModel;
  // float64 is its old name.
  if (arguments.raw.tolerance == "own" || arguments.raw.tolerance == "float64") {
    settings.criterion.reference = ReferenceKind::kFloat64;
  }
}

// Libraries may have added backends.
void choose_executor(const std::string& word, RunSettings& settings) {
  const std::vector<std::string> backends = list_backends();
  if (std::ranges::find(backends, word) != backends.end()) {
    settings.backend = word;
    return;
  }
  settings.executor = word;
  settings.executor_is_server = is_executor_server(word);
  settings.executor_intermediates = word.find("{intermediates}") != std::string::npos;
}

}  // namespace

void finish_arguments(const CLI::App& parser, Arguments& arguments) {
  choose_criterion(parser, arguments);
  check_together(parser, arguments);
  HarnessOptions& harness = arguments.harness;
  for (const std::string& library : harness.context.libraries) {
    const std::string added = load_library_and_count(
        library, {{.noun = "backend", .size = [] { return list_backends().size(); }}});
    if (!added.empty()) arguments.loaded.push_back(added);
  }
  RunSettings& settings = harness.run.settings;
  if (settings.scale == Scale::kFull) settings.last_stage = Stage::kSerialize;
  const std::string& program = arguments.raw.program;
  if (!program.empty() && harness.coverage.files.empty()) throw Error("--program needs a --pt2");
  for (ModelFiles& files : harness.coverage.files) files.program = program;
  set_against(arguments.raw.against, harness.coverage.files);
  if (is_given(parser, "--executor")) choose_executor(arguments.raw.executor, settings);
  if (arguments.output.empty()) throw Error("--output: missing folder name");
  harness.context.output = user_path(arguments.output);
  if (is_given(parser, "--output")) arguments.comparison = harness.context.output;
  // Operator cases have no values but their outputs.
  if (harness.coverage.selection.suite != Suite::kOperators) {
    settings.per_node |=
        harness.coverage.is_split || settings.executor_intermediates || settings.save_values;
  }
  // A server need not write the values of nodes, so it can always be asked for them.
  if (settings.executor_is_server) settings.executor_intermediates = settings.per_node;
  harness.run.timeout = std::chrono::duration<double>(arguments.raw.timeout);
  if (is_given(parser, "--memory-limit")) {
    constexpr double kMegabyte = 1e6;
    // Higher limits would have no effect.
    constexpr double kMost = 1e18;
    harness.run.memory_limit =
        static_cast<int64_t>(std::min(arguments.raw.memory_limit * kMegabyte, kMost));
  }
  harness.context.options = given_options(parser);
}

}  // namespace torch_ir
