#include "harness/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/options.h"
#include "torch_ir/base/terminal.h"
#include "torch_ir/runtime/device.h"
#include "torch_ir/runtime/graph/execution_options.h"

namespace torch_ir {
namespace {

// The group of options that --help leaves out.
constexpr const char* kHidden = "";

CLI::Validator count(const std::string& kind, int most) {
  return number<int>(kind, 1, most, false, fmt::format("a whole number from 1 to {}", most));
}

// `above` excludes 0.
CLI::Validator amount(const std::string& kind, bool above, const std::string& expected) {
  return number<double>(kind, 0, std::numeric_limits<double>::max(), above, expected);
}

CLI::Validator tolerance() { return amount("tolerance", false, "a number, 0 or more"); }

CLI::Validator one_of(const std::string& kind, const std::vector<std::string>& words) {
  const auto check = [=](std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return "";
    return fmt::format("unknown {} '{}'; expected one of: {}", kind, text, fmt::join(words, ", "));
  };
  return CLI::Validator(check, "");
}

std::string given_file(const std::string& path) {
  if (path.empty()) throw Error("missing file name");
  return user_path(path);
}

// "openvino=reports/ov", or a folder alone.
RunFolder run_folder(const std::string& word, const std::string& name) {
  const size_t equals = word.find('=');
  const bool has_name = equals != 0 && equals < word.find('/') && equals != std::string::npos;
  if (!has_name) return {.path = given_file(word), .name = name};
  return {.path = given_file(word.substr(equals + 1)), .name = word.substr(0, equals)};
}

// Declares options. Each declaration gives the parsing, --help and, if the option `is_of_run`, the
// words in the commands of pages (given_options). CLI11 calls those options configurable.
class Options {
 public:
  Options(CLI::App& parser, std::string group, bool is_of_run)
      : parser_(parser), group_(std::move(group)), is_of_run_(is_of_run) {}

  template <class Value>
  CLI::Option* one(const char* flag, Value& value, const char* type, const std::string& text) {
    return declared(parser_.add_option(flag, value, text)->type_name(type));
  }
  template <class Value>
  CLI::Option* with_default(const char* flag, Value& value, const char* type, const char* text) {
    return one(flag, value, type, fmt::format("{} (default: {})", text, value));
  }
  // Takes one value each time, so that a repeated flag does not swallow the words after it.
  CLI::Option* several(const char* flag, std::vector<std::string>& values, const char* type,
                       const char* text) {
    return one(flag, values, type, text)->allow_extra_args(false);
  }
  CLI::Option* flag(const char* flag, bool& value, const char* text) {
    return declared(parser_.add_flag(flag, value, text));
  }
  // `parse` throws Error for an invalid value.
  template <class Parse>
  CLI::Option* parsed(const std::string& flag, const Parse& parse, const char* type,
                      const char* text) {
    return declared(add_parsed_option(parser_, flag, parse, text)->type_name(type));
  }

  template <class Value, class Parse>
  CLI::Option* parsed(const char* flag, Value& value, const Parse& parse, const char* type,
                      const char* text) {
    return parsed(
        flag, [&value, parse](const std::string& word) { value = parse(word); }, type, text);
  }
  CLI::Option* file(const char* flag, std::string& path, const char* type, const char* text) {
    return parsed(flag, path, given_file, type, text);
  }
  // The flag may be repeated; files are taken in the order of the command line.
  template <class Use>
  CLI::Option* each_file(const char* flag, const Use& use, const char* type, const char* text) {
    const auto use_file = [use](const std::string& value) { use(given_file(value)); };
    return parsed(flag, use_file, type, text)->trigger_on_parse();
  }

 private:
  CLI::Option* declared(CLI::Option* option) {
    return option->group(group_)->configurable(is_of_run_);
  }

  CLI::App& parser_;
  std::string group_;
  bool is_of_run_;
};

void declare_models(CLI::App& parser, Arguments& arguments) {
  Options options(parser, "Select models", /*is_of_run=*/false);
  HarnessOptions& harness = arguments.harness;
  std::vector<ModelFiles>& files = harness.coverage.files;
  options.several("MODEL.pt2", arguments.raw.archives, "", "The same as --pt2 MODEL.pt2");
  const auto add = [&files](FileFormat format) {
    return [&files, format](const std::string& path) {
      files.push_back({.format = format, .path = path});
    };
  };
  options.each_file("--pt2", add(FileFormat::kArchive), "FILE ...",
                    "Test this archive of torch.export.save, or the archives in this folder");
  options.each_file("--ir", add(FileFormat::kGraph), "DIR ...",
                    "Test the graph DIR/ir.json, a folder of graphs, or a suite");
  options.one(kProgramFlag, arguments.raw.program, "NAME", kProgramText);
  options.several("--model", harness.coverage.selection.models, "NAME",
                  "Test this registered model (within --category, if given)");
  options.several("--category", harness.coverage.selection.categories, "NAME",
                  "Test the registered models of this category");
  options
      .parsed("--scale", harness.run.settings.scale, parse_scale, "SCALE",
              "test (default): small models; full: published sizes, not run")
      ->configurable();
  options.parsed("--suite", harness.coverage.selection.suite, parse_suite, "NAME",
                 "What to test: models (default), or operators: single calls");
  options.several("--operator", harness.coverage.selection.operators, "NAME",
                  "From a suite, test only this operator (aten.conv2d) or overload");
  options.several("--dtype", harness.coverage.selection.dtypes, "NAME",
                  "From a suite, test only the cases of this dtype");
  options.file("--rerun", arguments.raw.rerun, "FILE",
               "Test again what failed in the run of this results.json");
  options.flag("--split", arguments.harness.coverage.is_split,
               "Also test each different call, or group of an executor, on its own");
}

void declare_comparison(CLI::App& parser, Arguments& arguments) {
  Options options(parser, "Compare", /*is_of_run=*/true);
  RunSettings& settings = arguments.harness.run.settings;
  options
      .one("--tolerance", arguments.raw.tolerance, "RULE",
           "auto (default), dtype (as assert_close), or own (by own errors)")
      ->transform(one_of("tolerance rule", {"auto", "dtype", "own", "float64"}));
  options
      .with_default("--rtol", settings.tolerance.fixed.rtol, "R",
                    "Instead of a rule: relative tolerance for floats")
      ->transform(tolerance());
  options
      .with_default("--atol", settings.tolerance.fixed.atol, "A",
                    "Instead of a rule: absolute tolerance for floats")
      ->transform(tolerance());
  options.file("--tolerances", arguments.harness.context.tolerances, "FILE",
               "Tolerances, one line each: NAME: rtol R atol A, or snr DB cosine C");
  options.parsed("--compute-dtype", settings.criterion.arithmetic, parse_arithmetic, "DTYPE",
                 "The executor computes in float16, bfloat16 or tf32");
  options.flag("--per-node", settings.per_node,
               "Compare every value of the graph, even if all outputs agree");
  options.flag("--require-support", settings.requires_support,
               "Treat unsupported models and cases as failures");
  options
      .file("--against", arguments.raw.against, "FILE",
            "Compare a quantised model with its float model (SQNR, ranges)")
      ->configurable(false);
  options.file("--baseline", arguments.harness.context.baseline, "FILE",
               "Show changes since the run that wrote this results.json");
  options.file("--expected-failures", arguments.harness.context.expected_failures, "FILE",
               "Known failures, one line each: NAME: KIND: REASON; * for any text");
  options
      .file("--write-expected-failures", arguments.harness.written_failures, "FILE",
            "Bring that list up to date, or start one")
      ->configurable(false);
}

void declare_execution(CLI::App& parser, Arguments& arguments) {
  Options options(parser, "Run graphs", /*is_of_run=*/true);
  RunSettings& settings = arguments.harness.run.settings;
  options.parsed("--optimization", settings.optimization, choose_optimization, "LEVEL",
                 "exact (default): bit-identical to eager; fast: reorders arithmetic");
  options.parsed("--device", settings.device, parse_device, "D",
                 "Run on this device: cpu (default), cuda, cuda:1");
  options.one("--executor", arguments.raw.executor, "COMMAND",
              "Run 'sim {ir} {weights} {inputs} {outputs}', a server or a C++ backend");
  std::vector<std::string>& libraries = arguments.harness.context.libraries;
  options
      .each_file(
          "--load-library", [&](const std::string& path) { libraries.push_back(path); }, "FILE ...",
          "Load models, backends and operators from a trusted shared library")
      ->configurable(false);
  options
      .with_default("--trials", settings.trials, "N",
                    "Inputs per model: normal, 0 and 1, large, more seeds")
      ->transform(count("number of trials", 1000));
  options
      .with_default("--repeat", settings.repeat, "N", "Run each graph N times, and judge the worst")
      ->transform(count("number of runs", 1000));
  options
      .with_default("--steps", settings.steps, "N",
                    "Runs per trial, each on the state of the one before")
      ->transform(count("number of steps", 100000));
  options.several("--carry", settings.carry, "OUT=IN",
                  "With --steps: hand this output to this input of the next step");
  options.with_default("--seed", settings.seed, "N", "Seed of weights and inputs")
      ->transform(number<uint64_t>("seed", 0, UINT64_MAX, false,
                                   fmt::format("a whole number from 0 to {}", UINT64_MAX)));
  options
      .with_default("-j,--jobs", arguments.harness.run.jobs, "N",
                    "Number of models or cases to run at once")
      ->configurable(false)
      ->transform(count("number of jobs", 1024));
  options.with_default(kThreadsFlag, settings.threads, "N", kThreadsText)
      ->transform(count("number of threads", kMostThreads));
  options.with_default("--timeout", arguments.raw.timeout, "SECONDS", "Time limit per model")
      ->transform(amount("time limit", true, "a positive number of seconds"));
  options
      .with_default("--search-time", settings.search_seconds, "SECONDS",
                    "Limit of the search for the smallest part; 0: none")
      ->transform(amount("search time", false, "a number of seconds, 0 or more"));
  options
      .one("--memory-limit", arguments.raw.memory_limit, "MB",
           "Memory limit per model, in millions of bytes")
      ->transform(amount("memory limit", true, "a positive number of MB"));
}

void declare_output(CLI::App& parser, Arguments& arguments) {
  Options options(parser, "Output", /*is_of_run=*/true);
  options.with_default("-o,--output", arguments.output, "DIR", "Folder for the reports")
      ->configurable(false);
  RunSettings& settings = arguments.harness.run.settings;
  options.flag("--save-tensors", settings.save_tensors,
               "Save weights, inputs, outputs, expected outputs, for torch-ir verify");
  options.flag("--save-values", settings.save_values,
               "As --per-node, and save the values, for harness compare");
  options
      .flag("--annotations", arguments.annotations,
            "Print failures as ::error lines too, for GitHub")
      ->configurable(false);
  options.flag("-q,--quiet", arguments.quiet, "Print only failures and errors")
      ->configurable(false);
}

void declare_questions(CLI::App& parser, Arguments& arguments) {
  constexpr const char* kGroup = "Instead of a run";
  Options options(parser, kGroup, /*is_of_run=*/false);
  options.flag("--list-models", arguments.list_models, "List the registered models");
  options.flag("--list-categories", arguments.list_categories,
               "List the categories of the registered models");
  // The words `export DIR`, `supported FILE` and `compare OLD NEW` become these.
  options.file("--export-suite", arguments.export_suite, "DIR", "")->group(kHidden);
  options.file("--supported", arguments.supported, "FILE", "")->group(kHidden);
  options
      .parsed(
          "--compare",
          [&](const std::string& word) {
            const std::string name = arguments.compared.empty() ? "old" : "new";
            arguments.compared.push_back(run_folder(word, name));
          },
          "DIR ...", "")
      ->trigger_on_parse()
      ->group(kHidden);
  parser
      .set_version_flag("--version", version_text("harness", onednn_version()),
                        "Print the versions of torch-ir, LibTorch and oneDNN")
      ->group(kGroup);
  parser.set_help_flag("-h,--help", "Print this help")->group(kGroup);
}

}  // namespace

void declare_arguments(CLI::App& parser, Arguments& arguments) {
  // Fits the longest option, and leaves 70 columns for its text.
  parser.get_formatter()->column_width(30);
  // Programs may add options of their own.
  parser.option_defaults()->configurable(false);
  declare_models(parser, arguments);
  declare_comparison(parser, arguments);
  declare_execution(parser, arguments);
  declare_output(parser, arguments);
  declare_questions(parser, arguments);
}

std::vector<std::string> with_flags(const CLI::App& parser, const std::vector<std::string>& words,
                                    const std::string& flag) {
  // Whether `word` ends in an option that takes the next word: "--pt2", "-o", "-qo".
  const auto takes_next = [&](const std::string& word) {
    const auto takes_value = [](const CLI::Option* option) {
      return option != nullptr && option->get_items_expected_min() > 0;
    };
    if (word.starts_with("--")) return takes_value(parser.get_option_no_throw(word));
    for (size_t i = 1; i < word.size(); ++i) {
      const CLI::Option* option = parser.get_option_no_throw(std::string("-") + word[i]);
      if (takes_value(option)) return i + 1 == word.size();
    }
    return false;
  };
  std::vector<std::string> result;
  bool are_files = false;
  for (size_t i = 0; i < words.size(); ++i) {
    if (are_files || !words[i].starts_with('-')) {
      result.push_back(flag + "=" + words[i]);
    } else if (words[i] == "--") {
      are_files = true;
    } else {
      result.push_back(words[i]);
      if (takes_next(words[i]) && i + 1 < words.size()) result.push_back(words[++i]);
    }
  }
  return result;
}

}  // namespace torch_ir
