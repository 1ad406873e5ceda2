#include "harness/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "harness/arguments.h"
#include "harness/harness.h"
#include "harness/process/supervise.h"
#include "harness/report/finding.h"
#include "harness/report/run_text.h"
#include "harness/results/model_files.h"
#include "harness/results/results_file.h"
#include "harness/results/run_context.h"
#include "harness/results/selection.h"
#include "harness/select_candidates.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/options.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/terminal.h"
#include "torch_ir/base/text.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

constexpr int kPassed = 0;
constexpr int kFailed = 1;
constexpr int kBadInput = 2;
constexpr int kInterrupted = 130;

// The file name of //harness. Programs with other names link models or backends of their own.
constexpr const char* kProgram = "harness";

// The whole help fits into 100 columns; details are in docs/.
constexpr const char* kDescription =
    "Tests models: extracts each graph, saves it, runs it and compares it with PyTorch.\n"
    "\n"
    "Examples:\n"
    "  harness llama.pt2                           an archive of torch.export.save\n"
    "  harness --category attention --jobs 2       registered models, two at a time\n"
    "  harness --model DenseBlock --per-node       one model, every value compared\n"
    "  harness llama.pt2 --executor 'my_sim {ir} {weights} {inputs} {outputs}'\n"
    "                                              the graph, run by your own program\n"
    "  harness --ir reports/repro/DenseBlock --executor my_chip --output again\n"
    "                                              a reproducer, on your own backend\n"
    "  harness --split llama.pt2                   a model, and each different call of it alone\n"
    "  harness --suite operators --dtype bfloat16  single operator calls, with edge cases\n"
    "  harness --scale full                        models of published size, extracted only\n"
    "  harness --baseline old/results.json         what changed since an earlier run\n"
    "  harness compare old new                     what changed between two folders of reports;\n"
    "  harness compare ov=a ort=b                  the same, with names for the two\n"
    "  harness export DIR --suite operators        the selected cases or models (with --split:\n"
    "                                              their calls) as files\n"
    "  harness supported FILE                      models that run with the operators listed in\n"
    "                                              FILE, and which to add first\n";

constexpr const char* kFooter =
    "Repeat an option with '...' to give several values.\n"
    "Exit status: 0 all passed, 1 something failed, 2 invalid input or usage, 130 interrupted.\n"
    "More: docs/harness.md";

int run(const Arguments& arguments, std::ostream& out, std::ostream& err, const Screen& screen) {
  HarnessStreams streams{.lines = arguments.quiet ? nullptr : &out,
                         .bar = !arguments.quiet && screen.has_bar ? &err : nullptr,
                         .progress = screen.progress};
  streams.progress.reports = arguments.output;
  const HarnessRun run = run_harness(arguments.harness, streams);
  if (arguments.quiet) {
    for (const Result& result : run.results) {
      if (result.is_good()) continue;
      err << result_line(result) << '\n'
          << finding_line(result) << reproducer_line(result, arguments.output);
    }
    if (!all_good(run.cases)) err << cases_text(run.cases) << '\n';
  }
  if (run.baseline && (!arguments.quiet || run.baseline->is_worse())) {
    (arguments.quiet ? err : out) << baseline_text(*run.baseline,
                                                   arguments.harness.context.baseline);
  }
  if (arguments.annotations) {
    for (const auto* results : {&run.results, &run.cases}) {
      for (const Result& result : *results) {
        if (!result.is_good()) out << annotation(result);
      }
    }
  }
  if (!arguments.quiet) {
    // Of cases alone, cases_lines has said it.
    std::vector<FailureCause> causes = failure_causes(run.results, run.cases);
    std::erase_if(causes, [](const FailureCause& cause) { return cause.models.empty(); });
    const auto num_bad = std::ranges::count(run.results, false, &Result::is_good);
    constexpr size_t kMostCauses = 20;
    if (std::ssize(causes) < num_bad) out << "causes:\n" << causes_lines(causes, kMostCauses);
    out << fmt::format("{}; see {}/{}.md, or {}/index.html in a browser\n",
                       verdict_text(run.results, run.cases), arguments.output,
                       run.results.empty() && !run.cases.empty() ? "OPERATORS" : "SUMMARY",
                       arguments.output);
  }
  return run.is_good() ? kPassed : kFailed;
}

std::vector<RegisteredModel> selected_models(const Selection& selection, Scale scale) {
  std::vector<RegisteredModel> models = list_models(scale);
  const std::vector<std::string> names = select_models(models, selection);
  std::erase_if(models, [&](const RegisteredModel& model) {
    return std::ranges::find(names, model.name) == names.end();
  });
  return models;
}

// Answers arguments that replace a run; empty if there are none.
std::optional<std::string> answer(const Arguments& arguments) {
  const Scale scale = arguments.harness.run.settings.scale;
  if (arguments.list_models) {
    return models_table(selected_models(arguments.harness.coverage.selection, scale));
  }
  if (arguments.list_categories) {
    const bool is_operators = arguments.harness.coverage.selection.suite == Suite::kOperators;
    const std::vector<std::string> categories =
        is_operators ? categories_of(list_operator_cases()) : list_categories(scale);
    return categories.empty() ? "" : fmt::format("{}\n", fmt::join(categories, "\n"));
  }
  if (!arguments.supported.empty()) {
    return to_text(supported_models(arguments.harness, arguments.supported),
                   file_name(arguments.supported));
  }
  return std::nullopt;
}

int run_export(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  const MadeSuite suite = export_suite(arguments.harness, arguments.export_suite);
  if (suite.num_cases > 0) {
    out << fmt::format("{}: {}\n", printable(arguments.export_suite),
                       counted(static_cast<int64_t>(suite.num_cases), "case"));
  }
  for (const std::string& line : unsplit_lines(suite.problems)) {
    err << message_line("harness", line);
  }
  return suite.problems.empty() ? kPassed : kFailed;
}

int run_compare(const Arguments& arguments, std::ostream& out) {
  const std::vector<RunFolder>& folders = arguments.compared;
  if (folders.size() != 2) {
    throw Error(fmt::format("compare needs two folders of reports, {} given", folders.size()));
  }
  const BaselineComparison comparison = compare_reports(
      folders[0], folders[1], arguments.harness.run.settings.tolerance, arguments.comparison);
  if (!arguments.quiet || comparison.is_worse()) out << baseline_text(comparison, folders[0].path);
  if (!arguments.quiet && !arguments.comparison.empty()) {
    out << fmt::format("see {}/COMPARE.md\n", arguments.output);
  }
  return comparison.is_worse() ? kFailed : kPassed;
}

// Whether `bazel run` may have started the program.
bool is_of_bazel(const std::string& program) {
  return std::getenv("BUILD_WORKING_DIRECTORY") != nullptr ||
         program.find("bazel-bin/") != std::string::npos ||
         program.find("bazel-out/") != std::string::npos;
}

// With --rerun RESULTS, the words of the run that wrote it, then those given.
std::vector<std::string> with_earlier_words(std::vector<std::string> words,
                                            HarnessOptions& options) {
  const std::string kFlag = "--rerun";
  const auto flag = std::ranges::find_if(words, [&](const std::string& word) {
    return word == kFlag || word.starts_with(kFlag + "=");
  });
  if (flag == words.end()) return words;
  const bool is_apart = *flag == kFlag;
  if (is_apart && flag + 1 == words.end()) throw Error("--rerun: missing file name");
  const std::string file = is_apart ? *(flag + 1) : flag->substr(kFlag.size() + 1);
  words.erase(flag, flag + (is_apart ? 2 : 1));
  options.rerun = read_run_record(user_path(file));
  std::vector<std::string> earlier = options.rerun->context.words;
  // Its folder has the pages of what does not run again.
  const std::string folder = std::filesystem::path(file).parent_path().string();
  const bool has_output = std::ranges::any_of(words, [](const std::string& word) {
    return word.starts_with("--output") || word.starts_with("-o");
  });
  if (has_output)
    throw Error("--rerun writes the reports anew in their folder; leave out --output");
  words.insert(words.begin(), {"--output", folder.empty() ? "." : folder});
  for (const std::string& word : words) {
    if (!word.starts_with("--")) continue;
    // What is given anew replaces what was given then; values that begin with '-' follow a '='.
    const std::string flag_given = word.substr(0, word.find('='));
    const auto find_old = [&] {
      return std::ranges::find_if(earlier, [&](const std::string& old) {
        return old == flag_given || old.starts_with(flag_given + "=");
      });
    };
    for (auto old = find_old(); old != earlier.end(); old = find_old()) {
      const bool has_value =
          *old == flag_given && old + 1 != earlier.end() && !(old + 1)->starts_with('-');
      earlier.erase(old, old + (has_value ? 2 : 1));
    }
  }
  earlier.insert(earlier.end(), words.begin(), words.end());
  return earlier;
}

Error missing_words(const HarnessCommand& command) {
  return Error(fmt::format("'{}' needs {}", command.word, command.missing));
}

int parse_and_run(int argc, const char* const* argv, std::ostream& out, std::ostream& err,
                  const Screen& screen) {
  CLI::App app(kDescription, kProgram);
  app.footer(kFooter);
  Arguments arguments;
  arguments.harness.context.program = argc > 0 ? argv[0] : "";
  if (is_of_bazel(arguments.harness.context.program)) {
    const std::string program = file_name(arguments.harness.context.program);
    arguments.harness.context.program = program == kProgram ? "" : program;
  }
  declare_arguments(app, arguments);
  const auto fail = [&](const std::string& message) {
    err << message_line("harness", message);
    return kBadInput;
  };
  try {
    std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    const auto* command =
        words.empty() ? kHarnessCommands.end()
                      : std::ranges::find(kHarnessCommands, words[0], &HarnessCommand::word);
    // The other words of `harness compare OLD NEW` are folders.
    const bool compares = !words.empty() && words[0] == "compare";
    if (compares) {
      words.erase(words.begin());
    } else if (command != kHarnessCommands.end()) {
      if (words.size() < 2 || words[1].starts_with('-')) throw missing_words(*command);
      words[0] = command->flag;
    }
    words = with_earlier_words(std::move(words), arguments.harness);
    parse_arguments(app, compares ? with_flags(app, words, "--compare") : with_flags(app, words));
    finish_arguments(app, arguments);
    if (compares && arguments.compared.empty()) throw missing_words(*command);
    if (!arguments.quiet) {
      for (const std::string& line : arguments.loaded) err << line << '\n';
    }
    if (!arguments.export_suite.empty()) return run_export(arguments, out, err);
    if (!arguments.compared.empty()) return run_compare(arguments, out);
    if (const auto text = answer(arguments)) {
      out << *text;
      return kPassed;
    }
    return run(arguments, out, err, screen);
  } catch (const CLI::Success& help) {
    return app.exit(help, out, err);
  } catch (const Interrupted& interrupted) {
    fail(interrupted.what());
    return kInterrupted;
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

}  // namespace

int harness_main(int argc, const char* const* argv, std::ostream& out, std::ostream& err,
                 const Screen& screen) {
  const int status = parse_and_run(argc, argv, out, err, screen);
  return finish_output(out, err, "harness") ? status : kBadInput;
}

}  // namespace torch_ir
