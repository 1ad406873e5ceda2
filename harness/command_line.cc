#include "torch_ir/harness/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/version.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <ostream>

#include "torch_ir/base/error.h"
#include "torch_ir/base/suggestion.h"
#include "torch_ir/executor/device.h"
#include "torch_ir/executor/optimization_name.h"
#include "torch_ir/harness/harness.h"
#include "torch_ir/harness/interrupt.h"
#include "torch_ir/harness/progress.h"
#include "torch_ir/models/registry.h"

namespace torch_ir {
namespace {

constexpr int kPassed = 0;
constexpr int kFailed = 1;
constexpr int kBadInput = 2;
constexpr int kInterrupted = 130;

// Flags that may be repeated, each with its values in order.
struct ArchiveFlags {
  std::vector<std::string> pt2 = {};
  std::vector<std::string> inputs = {};
  std::vector<std::string> expected = {};
};

struct Arguments {
  HarnessOptions harness;
  ArchiveFlags archives;
  double timeout = RunOptions().timeout.count();
  bool list_models = false;
  bool list_categories = false;
  bool quiet = false;
};

// Takes the whole of a text as a number that is at least `least`, and above it when `above`. CLI11
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

CLI::Validator seed() {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  return number<uint64_t>("seed", 0, kMost, false,
                          fmt::format("a whole number from 0 to {}", kMost));
}

CLI::Validator job_count() {
  return number<int>("number of jobs", 1, 1024, false, "a whole number from 1 to 1024");
}

CLI::Validator time_limit() {
  return number<double>("time limit", 0, std::numeric_limits<double>::max(), true,
                        "seconds, more than 0");
}

CLI::Validator tolerance() {
  return number<double>("tolerance", 0, std::numeric_limits<double>::max(), false,
                        "a number of 0 or more");
}

void declare(CLI::App& app, Arguments& arguments) {
  HarnessOptions& harness = arguments.harness;
  RunSettings& settings = harness.run.settings;
  app.set_version_flag("--version", std::string("harness (LibTorch ") + TORCH_VERSION + ")");
  const auto option = [&](const char* flag, auto& value, const char* type, const char* text) {
    return app.add_option(flag, value, text)->type_name(type)->capture_default_str();
  };
  option("--output", harness.output, "DIR", "Directory for the reports");
  // One name each, so that a repeated flag does not swallow what follows.
  option("--category", harness.selection.categories, "NAME",
         "Run the models of this category (may be repeated)")
      ->allow_extra_args(false)
      ->default_str("");
  option("--model", harness.selection.models, "NAME", "Run this model (may be repeated)")
      ->allow_extra_args(false)
      ->default_str("");
  option("--pt2", arguments.archives.pt2, "FILE",
         "Run this archive of torch.export.save, or those of this folder (may be repeated); of the "
         "registry only what --model and --category ask for runs beside it")
      ->allow_extra_args(false)
      ->default_str("");
  option("--inputs", arguments.archives.inputs, "X",
         "Inputs for the --pt2 in front of it, .safetensors; else NAME.inputs.safetensors beside "
         "NAME.pt2, or the archive's example inputs")
      ->allow_extra_args(false)
      ->default_str("");
  option("--expected", arguments.archives.expected, "Y",
         "Its expected outputs; else NAME.expected.safetensors beside NAME.pt2, or what its "
         "operators compute eagerly")
      ->allow_extra_args(false)
      ->default_str("");
  app.add_flag("--list-models", arguments.list_models, "List the models of the registry and leave");
  app.add_flag("--list-categories", arguments.list_categories,
               "List the categories of the registry and leave");
  option("--jobs", harness.run.jobs, "N", "How many models to run at once")->transform(job_count());
  option("--timeout", arguments.timeout, "SECONDS", "How long one model may take")
      ->transform(time_limit());
  option("--rtol", settings.tolerance.fixed.rtol, "R", "Relative tolerance")
      ->transform(tolerance());
  option("--atol", settings.tolerance.fixed.atol, "A", "Absolute tolerance")
      ->transform(tolerance());
  const auto parsed = [&](const std::string& flag, const auto& parse, const char* type,
                          const char* text) {
    const auto take = [flag, parse](const std::string& value) {
      try {
        parse(value);
      } catch (const Error& error) {
        throw CLI::ValidationError(flag, error.what());
      }
    };
    return app.add_option_function<std::string>(flag, take, text)->type_name(type);
  };
  parsed(
      "--optimization",
      [&](const std::string& name) { settings.optimization = parse_optimization(name); }, "LEVEL",
      "exact: the bits of eager; fast: within 1e-4 of it")
      ->default_str(optimization_name(settings.optimization));
  parsed(
      "--device", [&](const std::string& name) { settings.device = parse_device(name); }, "D",
      "Where the graphs run: cpu, cuda, cuda:1; what they are compared with runs on the CPU")
      ->default_str(settings.device.str());
  option("--seed", settings.seed, "N", "Seed of weights and inputs")->transform(seed());
  app.add_flag("--save-tensors", settings.save_tensors,
               "Save weights, inputs and expected outputs, to replay a model with torch-ir verify; "
               "a later run without it removes them");
  app.add_flag("--quiet", arguments.quiet, "Print nothing but errors and models that fail");
}

// Under `bazel run` the working directory is Bazel's; relative paths mean the user's.
std::string user_path(const std::string& path) {
  const char* directory = std::getenv("BUILD_WORKING_DIRECTORY");
  return directory == nullptr ? path : (std::filesystem::path(directory) / path).string();
}

// The archives with their tensors: what stands behind a --pt2 is for it.
std::vector<ArchiveArgument> group_archives(const CLI::App& app, const ArchiveFlags& flags) {
  std::vector<ArchiveArgument> archives;
  ArchiveFlags rest = flags;
  const auto take = [](std::vector<std::string>& values, const std::string& flag) {
    const std::string value = values.front();
    if (value.empty()) throw Error(flag + ": '' is no file: give its name");
    values.erase(values.begin());
    return user_path(value);
  };
  const auto set = [&](std::string ArchiveArgument::* member, std::vector<std::string>& values,
                       const std::string& flag) {
    if (archives.empty()) throw Error(flag + ": give it behind the --pt2 that it is for");
    std::string& value = archives.back().*member;
    if (!value.empty()) throw Error(flag + ": there are two for one --pt2");
    value = take(values, flag);
  };
  for (const CLI::Option* option : app.parse_order()) {
    const std::string flag = option->get_name();
    if (flag == "--pt2") archives.push_back({.path = take(rest.pt2, flag)});
    if (flag == "--inputs") set(&ArchiveArgument::inputs, rest.inputs, flag);
    if (flag == "--expected") set(&ArchiveArgument::expected, rest.expected, flag);
  }
  return archives;
}

void print_models(std::ostream& out) {
  const std::vector<RegisteredModel> models = list_models();
  size_t name_width = 0;
  size_t category_width = 0;
  for (const RegisteredModel& model : models) {
    name_width = std::max(name_width, model.name.size());
    category_width =
        std::max(category_width, fmt::format("{}", fmt::join(model.spec.categories, ", ")).size());
  }
  for (const RegisteredModel& model : models) {
    out << fmt::format("{:{}}  {:{}}  {}\n", model.name, name_width,
                       fmt::format("{}", fmt::join(model.spec.categories, ", ")), category_width,
                       model.spec.description);
  }
}

void print_categories(std::ostream& out) {
  for (const std::string& category : list_categories()) out << category << '\n';
}

// What is left of the arguments when all declared ones have taken theirs.
std::string unexpected_argument(const CLI::App& app) {
  std::string argument = app.remaining().front();
  if (!argument.starts_with('-')) return "unexpected argument '" + argument + "'";
  argument = argument.substr(0, argument.find('='));
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  return "unknown option '" + argument + "'" + suggest(argument, known);
}

int run(const Arguments& arguments, std::ostream& out, std::ostream& err, bool err_is_terminal) {
  HarnessOptions options = arguments.harness;
  if (options.output.empty()) throw Error("--output: '' is no directory: give its name");
  options.output = user_path(options.output);
  options.run.timeout = std::chrono::duration<double>(arguments.timeout);
  const std::vector<ModelResult> results =
      run_harness(options, {.lines = arguments.quiet ? nullptr : &out,
                            .bar = !arguments.quiet && err_is_terminal ? &err : nullptr});
  const auto passed = std::count_if(results.begin(), results.end(),
                                    [](const ModelResult& result) { return result.passed(); });
  const bool all_passed = static_cast<size_t>(passed) == results.size();
  if (!arguments.quiet) {
    out << fmt::format("{} of {} models passed; see {}/SUMMARY.md\n", passed, results.size(),
                       arguments.harness.output);
  } else {
    for (const ModelResult& result : results) {
      if (!result.passed()) err << result_line(result) << '\n';
    }
  }
  return all_passed ? kPassed : kFailed;
}

int parse_and_run(int argc, const char* const* argv, std::ostream& out, std::ostream& err,
                  bool err_is_terminal) {
  CLI::App app(
      "Drives every model of the registry, or archives of torch.export.save, through the pipeline "
      "(extract, serialize, execute, verify) and writes the reports.",
      "harness");
  app.footer(
      "Exit status: 0 all models passed, 1 a model failed, 2 bad arguments or files, 130 "
      "interrupted.");
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
    if (arguments.list_models) {
      print_models(out);
    } else if (arguments.list_categories) {
      print_categories(out);
    } else {
      arguments.harness.archives = group_archives(app, arguments.archives);
      return run(arguments, out, err, err_is_terminal);
    }
    return kPassed;
  } catch (const CLI::Success& help) {
    return app.exit(help, out, err);
  } catch (const CLI::ExtrasError&) {
    err << "harness: " << unexpected_argument(app) << '\n';
    return kBadInput;
  } catch (const CLI::ValidationError& error) {
    err << "harness: " << error.what() << '\n';
    return kBadInput;
  } catch (const CLI::ParseError& error) {
    err << "harness: " << error.what() << "; see harness --help\n";
    return kBadInput;
  } catch (const Interrupted&) {
    err << "harness: interrupted; the pages of models that finished are written, SUMMARY.md is "
           "not\n";
    return kInterrupted;
  } catch (const std::exception& error) {
    err << "harness: " << error.what() << '\n';
    return kBadInput;
  }
}

}  // namespace

int harness_main(int argc, const char* const* argv, std::ostream& out, std::ostream& err,
                 bool err_is_terminal) {
  const int status = parse_and_run(argc, argv, out, err, err_is_terminal);
  if (out.flush()) return status;
  err << "harness: cannot write to the standard output\n";
  return kBadInput;
}

}  // namespace torch_ir
