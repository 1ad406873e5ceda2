#include "harness/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>

#include "harness/backend/backend.h"
#include "harness/backend/command_backend.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/program.h"
#include "torch_ir/executor/device.h"
#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/libraries/load_library.h"

namespace torch_ir {
namespace {

// Requires the whole text to be a number from `least` (excluded when `above`) to `most`. CLI11
// itself would take -1 as a seed, and 010 as 8.
template <class Number>
CLI::Validator number(const std::string& kind, Number least, Number most, bool above,
                      const std::string& advice) {
  const auto check = [=](std::string& text) -> std::string {
    Number value = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    // NaN compares as false.
    const bool fits = error == std::errc() && rest == end && value >= least && value <= most &&
                      !(above && value == least);
    if (!fits) return fmt::format("'{}' is no {}: give {}", text, kind, advice);
    text = fmt::format("{}", value);
    return "";
  };
  return CLI::Validator(check, "");
}

CLI::Validator count(const std::string& kind, int most) {
  return number<int>(kind, 1, most, false, fmt::format("a whole number from 1 to {}", most));
}

CLI::Validator amount(const std::string& kind, const std::string& unit) {
  return number<double>(kind, 0, std::numeric_limits<double>::max(), true, unit + ", more than 0");
}

CLI::Validator seed() {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  return number<uint64_t>("seed", 0, kMost, false,
                          fmt::format("a whole number from 0 to {}", kMost));
}

CLI::Validator tolerance() {
  return number<double>("tolerance", 0, std::numeric_limits<double>::max(), false,
                        "a number of 0 or more");
}

CLI::Validator one_of(const std::string& kind, const std::vector<std::string>& words) {
  const auto check = [=](std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return "";
    std::string known;
    for (const std::string& word : words) known += (known.empty() ? "" : " or ") + word;
    return fmt::format("'{}' is no {}: give {}", text, kind, known);
  };
  return CLI::Validator(check, "");
}

std::string given_file(const std::string& path) {
  if (path.empty()) throw Error("'' is no file: give its name");
  return user_path(path);
}

class Options {
 public:
  Options(CLI::App& parser, std::string group) : parser_(parser), group_(std::move(group)) {}

  template <class Value>
  CLI::Option* one(const char* flag, Value& value, const char* type, const char* text) {
    return parser_.add_option(flag, value, text)->type_name(type)->group(group_);
  }
  template <class Value>
  CLI::Option* with_default(const char* flag, Value& value, const char* type, const char* text) {
    return one(flag, value, type, text)->capture_default_str();
  }
  // One value each, so that a repeated flag does not swallow the words after it.
  CLI::Option* several(const char* flag, std::vector<std::string>& values, const char* type,
                       const char* text) {
    return one(flag, values, type, text)->allow_extra_args(false);
  }
  CLI::Option* flag(const char* flag, bool& value, const char* text) {
    return parser_.add_flag(flag, value, text)->group(group_);
  }
  // `parse` throws Error for a value that it rejects.
  template <class Parse>
  CLI::Option* parsed(const std::string& flag, const Parse& parse, const char* type,
                      const char* text) {
    const auto take = [flag, parse](const std::string& value) {
      try {
        parse(value);
      } catch (const Error& error) {
        throw CLI::ValidationError(flag, error.what());
      }
    };
    return parser_.add_option_function<std::string>(flag, take, text)
        ->type_name(type)
        ->group(group_);
  }

  CLI::Option* file(const char* flag, std::string& path, const char* type, const char* text) {
    return parsed(
        flag, [&path](const std::string& value) { path = given_file(value); }, type, text);
  }
  // The flag may be repeated; files are taken in the order of the command line.
  template <class Take>
  void each_file(const char* flag, const Take& take, const char* type, const char* text) {
    const auto take_path = [take](const std::string& value) { take(given_file(value)); };
    parsed(flag, take_path, type, text)->trigger_on_parse();
  }

 private:
  CLI::App& parser_;
  std::string group_;
};

void set_tensors(ModelFiles& files, std::string ModelFiles::* member, const std::string& path) {
  std::string& value = files.*member;
  if (!value.empty()) throw Error("there are two for one " + flag_of(files.format));
  value = path;
}

void declare_models(CLI::App& parser, Arguments& arguments) {
  Options options(parser, "Which models");
  HarnessOptions& harness = arguments.harness;
  options.several("--category", harness.selection.categories, "NAME",
                  "Run the models of this category, and where --model is given too, only those "
                  "that it names (may be repeated)");
  options.several("--model", harness.selection.models, "NAME",
                  "Run this model, which has to be of a --category where one is given (may be "
                  "repeated)");
  options
      .parsed(
          "--suite", [&](const std::string& name) { harness.selection.suite = parse_suite(name); },
          "NAME",
          "What the run is about: models, or operators, single calls of each in each dtype and at "
          "its edges")
      ->default_str("models");
  options.several("--operator", harness.selection.operators, "NAME",
                  "Of the suite of operators, this one: aten.conv2d, or one of its overloads (may "
                  "be repeated)");
  options.several("--dtype", harness.selection.dtypes, "NAME",
                  "Of the suite of operators, the cases of this dtype (may be repeated)");
  options
      .parsed(
          "--scale",
          [&](const std::string& name) { harness.run.settings.scale = parse_scale(name); }, "SCALE",
          "test: small models, which are run; full: models as large as they were published, which "
          "are extracted without weights, serialized, and not run")
      ->default_str(std::string(scale_name(harness.run.settings.scale)));
  options.several("MODEL.pt2", arguments.raw.archives, "", "The same as --pt2 MODEL.pt2");
  std::vector<ModelFiles>& files = harness.files;
  options.each_file(
      "--pt2", [&files](const std::string& path) { files.push_back({.path = path}); }, "FILE",
      "Run this archive of torch.export.save, or those of this folder (may be repeated); of the "
      "registry only what --model and --category ask for runs beside it");
  options.each_file(
      "--ir",
      [&files](const std::string& path) {
        files.push_back({.format = FileFormat::kGraph, .path = path});
      },
      "DIR",
      "Run this graph: DIR/ir.json, with DIR/weights.safetensors where it has weights and "
      "DIR/inputs.safetensors, as a reproducer has them; or the graphs in the folders of this "
      "folder, or the cases of a suite that --export-suite or torch-ir split wrote (may be "
      "repeated, beside --pt2 too)");
  ModelFiles& early = arguments.raw.early;
  const auto set = [&files, &early](std::string ModelFiles::* member) {
    return [&files, &early, member](const std::string& path) {
      set_tensors(files.empty() ? early : files.back(), member, path);
    };
  };
  options.each_file("--inputs", set(&ModelFiles::inputs), "FILE",
                    "Inputs for the only model in files, or else the --pt2 or --ir in front of it, "
                    ".safetensors; without, "
                    "NAME.inputs.safetensors beside NAME.pt2 or the archive's example inputs, or "
                    "DIR/inputs.safetensors");
  options.each_file("--expected", set(&ModelFiles::expected), "FILE",
                    "Its expected outputs; without, NAME.expected.safetensors beside NAME.pt2, or "
                    "DIR/expected.safetensors, or what its operators compute eagerly");
  options.file("--against", arguments.raw.against, "FILE",
               "Compare the tensors of the one --pt2 or --ir, a quantised model, with those of its "
               "float model, an archive or a folder with a graph: SQNR, ranges, saturated values");
}

void take_early_tensors(const ModelFiles& early, std::vector<ModelFiles>& files) {
  for (const auto& [flag, member] : {std::pair("--inputs", &ModelFiles::inputs),
                                     std::pair("--expected", &ModelFiles::expected)}) {
    if ((early.*member).empty()) continue;
    if (files.size() != 1) {
      throw Error(std::string(flag) + ": give it behind the --pt2 or --ir that it is for");
    }
    set_tensors(files.front(), member, early.*member);
  }
}

void take_against(const std::string& path, std::vector<ModelFiles>& files) {
  if (path.empty()) return;
  if (files.size() != 1) {
    throw Error(fmt::format("--against is for one model: give exactly one --pt2 or --ir, not {}",
                            files.size()));
  }
  files.front().against = path;
}

void declare_comparison(CLI::App& parser, Arguments& arguments) {
  Options options(parser, "How they are compared");
  RunSettings& settings = arguments.harness.run.settings;
  options
      .with_default("--rtol", settings.tolerance.fixed.rtol, "R",
                    "Relative tolerance of floating point; integers are compared exactly")
      ->transform(tolerance());
  options
      .with_default("--atol", settings.tolerance.fixed.atol, "A",
                    "Absolute tolerance of floating point")
      ->transform(tolerance());
  options
      .one("--tolerance", arguments.raw.tolerance, "RULE",
           "auto: outputs pass within the tolerance that torch.testing.assert_close has for their "
           "dtype, or where they are as near to float64 as eager; dtype: only within the tolerance")
      ->transform(one_of("rule for tolerances", {"auto", "dtype"}))
      ->default_str("auto");
  options
      .parsed(
          "--reference",
          [&](const std::string& name) { settings.criterion.reference = parse_reference(name); },
          "NAME",
          "model: what the model computes, within the tolerance; float64: the graph in float64, "
          "and how much farther from it than the model the outputs are; auto: either")
      ->default_str(std::string(reference_name(settings.criterion.reference)));
  options
      .with_default("--error-factor", settings.criterion.error_factor, "N",
                    "Compared with float64: how many times the error of the model an output may "
                    "have")
      ->transform(amount("error factor", "a number"));
  options.with_default("--seed", settings.seed, "N", "Seed of weights and inputs")
      ->transform(seed());
  options
      .with_default("--trials", settings.trials, "N",
                    "Run each model on N kinds of inputs: normal values, zeros and ones, large "
                    "magnitudes, then normal values of other seeds")
      ->transform(count("number of trials", 1000));
  options.flag("--per-node", settings.per_node,
               "Compare every value in the graph, also where all outputs agree");
  options.flag("--require-intermediates", arguments.harness.run.requires_intermediates,
               "Compare every value as with --per-node, and fail where the outputs agree, but "
               "values of nodes do not");
  options.flag("--split", arguments.harness.is_split,
               "Take the models apart: each different call also runs alone, on the inputs that it "
               "has in the model");
  options.flag("--groups", arguments.harness.is_grouped,
               "With --split: the groups of nodes that the executor or backend computes at once "
               "run as a whole, each different one, and their nodes not alone");
  options.flag("--require-support", arguments.harness.requires_support,
               "Fail also for cases that whoever executes says it does not support");
  options.file("--baseline", arguments.harness.baseline, "FILE",
               "Say what became better and worse since the run that wrote this results.json");
  options.file("--expected-failures", arguments.harness.expected_failures, "FILE",
               "Models and cases that are expected to fail, a line each: NAME: KIND: REASON");
}

void declare_execution(CLI::App& parser, Arguments& arguments) {
  Options options(parser, "How the graphs run");
  RunSettings& settings = arguments.harness.run.settings;
  options
      .parsed(
          "--optimization",
          [&](const std::string& name) { settings.optimization = choose_optimization(name); },
          "LEVEL", "exact: the bits of eager; fast: within 1e-4 of it")
      ->default_str(optimization_name(settings.optimization));
  options
      .parsed(
          "--device", [&](const std::string& name) { settings.device = parse_device(name); }, "D",
          "Where the graphs run: cpu, cuda, cuda:1; what they are compared with runs on the CPU")
      ->default_str(settings.device.str());
  options.one("--backend", settings.backend, "NAME",
              "Run the graphs on a backend that is linked into this program");
  options.one("--executor", settings.executor, "COMMAND",
              "Run the graphs by an external program: COMMAND holds {ir} {weights} {inputs} "
              "{outputs} where their files belong");
  options.one("--executor-server", arguments.raw.executor_server, "COMMAND",
              "Run the graphs by an external program that stays: it reads a line of JSON for each "
              "graph and answers with another");
  options.flag("--executor-intermediates", settings.executor_intermediates,
               "COMMAND also holds {intermediates}, or a server reads that name, where it writes "
               "the values of the nodes, which are "
               "compared as with --per-node");
}

void declare_run(CLI::App& parser, Arguments& arguments) {
  Options options(parser, "The run");
  std::vector<std::string>& libraries = arguments.harness.libraries;
  options.each_file(
      "--load-library", [&](const std::string& path) { libraries.push_back(path); }, "FILE",
      "Load the operators of this shared library into every process first. It is code, which runs: "
      "load only libraries that you trust (may be repeated)");
  options.with_default("-o,--output", arguments.output, "DIR", "Directory for the reports");
  options
      .with_default("-j,--jobs", arguments.harness.run.jobs, "N",
                    "How many models or cases to run at once")
      ->transform(count("number of jobs", 1024));
  options
      .with_default("--timeout", arguments.raw.timeout, "SECONDS",
                    "How long one model may take, and the search for the smallest part of one that "
                    "crashes, hangs or takes too much memory")
      ->transform(amount("time limit", "seconds"));
  options
      .one("--memory-limit", arguments.raw.memory_limit, "MB",
           "How much memory one model may take, in MB of a million bytes")
      ->transform(amount("memory limit", "MB"));
  options.flag("--save-tensors", arguments.harness.run.settings.save_tensors,
               "Save weights, inputs and expected outputs, to replay a model with torch-ir verify; "
               "a later run without it removes them");
  options.flag("--timings", arguments.harness.timings,
               "Say in the reports how long each stage took; they then differ from run to run");
  options.flag("-q,--quiet", arguments.quiet, "Print nothing but errors and models that fail");
}

void declare_questions(CLI::App& parser, Arguments& arguments) {
  Options options(parser, "In place of a run");
  options.flag("--list-models", arguments.list_models, "List the models of the registry");
  options.flag("--list-categories", arguments.list_categories,
               "List the categories of the registry");
  options.file("--supported", arguments.supported, "FILE",
               "Say which models a backend can take that has the operators of this file, and which "
               "others it would need");
  options.file(
      "--export-suite", arguments.export_suite, "DIR",
      "Write the selected cases, or models, or with --split their calls, as files for other "
      "people's tests");
  options.flag("--json", arguments.json, "Print these lists as JSON");
}

bool is_given(const CLI::App& parser, const std::string& flag) { return parser.count(flag) > 0; }

// No flag in `some` can be combined with one in `others`; `advice` says what to do.
struct Conflict {
  bool applies = true;
  std::vector<std::string> some = {};
  std::vector<std::string> others = {};
  const char* advice = "";
};

void refuse(const CLI::App& parser, const Conflict& conflict) {
  if (!conflict.applies) return;
  for (const std::string& one : conflict.some) {
    for (const std::string& other : conflict.others) {
      // A flag may come with its value: "--reference float64".
      const bool are_given =
          is_given(parser, one.substr(0, one.find(' '))) && is_given(parser, other);
      if (!are_given || one == other) continue;
      throw Error(fmt::format("{} and {} do not go together: {}", one, other, conflict.advice));
    }
  }
}

void require(const CLI::App& parser, const std::string& flag,
             const std::vector<std::string>& needed) {
  const bool is_met = std::ranges::any_of(
      needed, [&](const std::string& other) { return is_given(parser, other); });
  if (is_given(parser, flag) && !is_met) {
    throw Error(fmt::format("{} is for {}: give that too", flag, fmt::join(needed, ", ")));
  }
}

void check_together(const CLI::App& parser, const Arguments& arguments) {
  const std::vector<std::string> questions = {"--list-models", "--list-categories", "--supported",
                                              "--export-suite"};
  const RunSettings& settings = arguments.harness.run.settings;
  const bool is_operators = arguments.harness.selection.suite == Suite::kOperators;
  const bool is_float64 = settings.criterion.reference == ReferenceKind::kFloat64;
  const std::vector<std::string> elsewhere = {"--backend", "--executor", "--executor-server"};
  const Conflict conflicts[] = {
      {true, {"--tolerance"}, {"--rtol", "--atol"}, "give the figures, or the rule"},
      {true, elsewhere, elsewhere, "one of them runs the graphs"},
      {true, elsewhere, {"--optimization"}, "levels are those of the execution plan"},
      {true, elsewhere, {"--device"}, "devices are those of the execution plan"},
      {true, questions, questions, "one question at a time"},
      {true, questions, {"--baseline", "--against"}, "it is for runs"},
      {true, {"--list-models", "--list-categories"}, {"--pt2", "--ir"}, "it lists the registry"},
      {true, {"--list-categories"}, {"--model", "--category"}, "it lists all of them"},
      {is_operators,
       {"--suite"},
       {"--model", "--pt2", "--ir", "--split", "--list-models", "--supported"},
       "the suite of operators has no models"},
      {is_operators,
       {"--suite"},
       {"--trials", "--seed", "--per-node", "--require-intermediates", "--save-tensors"},
       "the cases of operators are single calls with inputs of their own"},
      {settings.scale == Scale::kFull,
       {"--scale"},
       {"--pt2", "--ir", "--backend", "--executor", "--executor-server", "--optimization",
        "--device", "--per-node", "--require-intermediates", "--save-tensors", "--split",
        "--export-suite", "--suite"},
       "models of full scale are not run"},
      {is_float64,
       {"--reference float64"},
       {"--tolerance", "--rtol", "--atol"},
       "it goes by --error-factor"}};
  for (const Conflict& conflict : conflicts) refuse(parser, conflict);
  for (const char* flag : {"--operator", "--dtype"}) {
    if (!is_operators && is_given(parser, flag) && !is_given(parser, "--ir")) {
      throw Error(fmt::format("{} is for --suite operators, and for suites of --ir", flag));
    }
  }
  require(parser, "--executor-intermediates", {"--executor", "--executor-server"});
  require(parser, "--groups", {"--split"});
  require(parser, "--groups", elsewhere);
  require(parser, "--json", {"--list-models", "--list-categories", "--supported"});
  if (settings.criterion.reference == ReferenceKind::kModel && is_given(parser, "--error-factor")) {
    throw Error(
        "--error-factor is for comparisons with float64: use --tolerance auto or --reference "
        "float64");
  }
}

// Figures, and the rule of the dtype, mean just that.
void choose_criterion(const CLI::App& parser, Arguments& arguments) {
  RunSettings& settings = arguments.harness.run.settings;
  const bool has_figures = is_given(parser, "--rtol") || is_given(parser, "--atol");
  settings.tolerance.by_dtype = !has_figures;
  settings.tolerance_wins = has_figures || arguments.raw.tolerance == "dtype";
  if (settings.tolerance_wins && !is_given(parser, "--reference")) {
    settings.criterion.reference = ReferenceKind::kModel;
  }
}

}  // namespace

void declare_arguments(CLI::App& parser, Arguments& arguments) {
  parser.set_version_flag("--version", version_text("harness", onednn_version()),
                          "Print the versions of torch-ir, LibTorch and oneDNN");
  declare_models(parser, arguments);
  declare_comparison(parser, arguments);
  declare_execution(parser, arguments);
  declare_run(parser, arguments);
  declare_questions(parser, arguments);
}

std::vector<std::string> with_flags(const CLI::App& parser, const std::vector<std::string>& words) {
  // Whether an option ends `word` and takes the next one: "--pt2", "-o", "-qo".
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
      result.push_back("--pt2=" + words[i]);
    } else if (words[i] == "--") {
      are_files = true;
    } else {
      result.push_back(words[i]);
      if (takes_next(words[i]) && i + 1 < words.size()) result.push_back(words[++i]);
    }
  }
  return result;
}

void finish_arguments(const CLI::App& parser, Arguments& arguments) {
  choose_criterion(parser, arguments);
  check_together(parser, arguments);
  HarnessOptions& harness = arguments.harness;
  for (const std::string& library : harness.libraries) load_library(library);
  RunSettings& settings = harness.run.settings;
  if (settings.scale == Scale::kFull) settings.last_stage = Stage::kSerialize;
  take_early_tensors(arguments.raw.early, harness.files);
  take_against(arguments.raw.against, harness.files);
  if (is_given(parser, "--backend")) check_backend(settings.backend);
  if (is_given(parser, "--executor")) {
    check_executor_command(settings.executor, settings.executor_intermediates);
    if (harness.is_grouped && settings.executor.find("{groups}") == std::string::npos) {
      throw Error("--groups: the --executor has no {groups}, where it would write them");
    }
  }
  if (is_given(parser, "--executor-server")) {
    check_executor_server(arguments.raw.executor_server);
    settings.executor = arguments.raw.executor_server;
    settings.executor_is_server = true;
  }
  if (arguments.output.empty()) throw Error("--output: '' is no directory: give its name");
  harness.output = user_path(arguments.output);
  if (harness.is_split || settings.executor_intermediates || harness.run.requires_intermediates) {
    settings.per_node = true;
  }
  harness.run.timeout = std::chrono::duration<double>(arguments.raw.timeout);
  if (is_given(parser, "--memory-limit")) {
    constexpr double kMegabyte = 1e6;
    // A higher limit is no limit.
    constexpr double kMost = 1e18;
    harness.run.memory_limit =
        static_cast<int64_t>(std::min(arguments.raw.memory_limit * kMegabyte, kMost));
  }
}

}  // namespace torch_ir
