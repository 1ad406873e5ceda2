#include "harness/results/run_context.h"

#include <ATen/Version.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "torch_ir/base/characters.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/version.h"
#include "torch_ir/runtime/graph/execution_options.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

// Returns the command without options. //harness links no backends, so these need another program.
std::string program_command(const RunContext& context, bool has_options) {
  if (!context.program.empty()) return shell_word(context.program);
  if (!context.settings.backend.empty()) return "harness";
  return std::string("tools/bazel run //harness") + (has_options ? " --" : "");
}

// Finds "GCC 13.3" in "PyTorch built with:\n  - GCC 13.3".
std::string compiler(std::string_view config) {
  constexpr std::string_view kItem = "\n  - ";
  const size_t at = config.find(kItem);
  return at == config.npos ? "" : headline(config.substr(at + kItem.size()));
}

bool is_plain(char c) {
  return is_alphanumeric(c) || std::string_view("_-./:@%+=,").find(c) != std::string_view::npos;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

// Octal, because a hexadecimal number could absorb the characters that follow.
std::string escaped(char c) {
  if (is_control(c)) return fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  return c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
}

// A name that is not taken for an option.
std::string file_argument(const std::string& name) {
  return name.starts_with('-') ? "./" + name : name;
}

std::string file_word(const std::string& name) { return shell_word(file_argument(name)); }

}  // namespace

std::string typed_path(const std::string& path) {
  const char* directory = std::getenv("BUILD_WORKING_DIRECTORY");
  if (directory == nullptr || path.empty()) return path;
  const std::string relative = fs::path(path).lexically_relative(directory).string();
  return relative.empty() || relative.starts_with("..") ? path : relative;
}

ModelFiles as_typed(ModelFiles files) {
  files.name.clear();
  if (files.is_graph()) files.weights.clear();
  for (std::string* path : {&files.path, &files.weights, &files.against}) {
    *path = typed_path(*path);
  }
  for (auto* paths : {&files.inputs, &files.expected}) {
    for (std::string& path : *paths) path = typed_path(path);
  }
  if (files.is_graph_of_folder()) {
    const fs::path folder = fs::path(files.path).parent_path();
    files.path = folder.empty() ? "." : folder.string();
  }
  return files;
}

Coverage coverage_of(const Result& result) {
  if (!result.origin) return {.selection = {.models = {result.name}}};
  return {.files = {*result.origin}};
}

std::string library_flags(const std::vector<std::string>& libraries) {
  std::string flags;
  for (const std::string& path : libraries) {
    flags += " --load-library " + file_word(path);
  }
  return flags;
}

std::vector<std::string> reproduce_words(const Coverage& coverage, const RunContext& context) {
  std::vector<std::string> words;
  const auto add = [&](const std::string& flag, const std::string& value) {
    words.insert(words.end(), {flag, value});
  };
  const auto add_file = [&](const std::string& flag, const std::string& path) {
    if (!path.empty()) add(flag, file_argument(path));
  };
  for (const std::string& path : context.libraries) add_file("--load-library", path);
  bool reads_reports = false;
  for (const ModelFiles& given : coverage.files) {
    const ModelFiles files = as_typed(given);
    reads_reports |= fs::path(files.path).lexically_normal().string().starts_with("reports/");
    add_file(flag_of(files.format), files.path);
    add_file("--against", files.against);
  }
  // All files have the same one.
  if (!coverage.files.empty() && !coverage.files[0].program.empty()) {
    add("--program", coverage.files[0].program);
  }
  if (reads_reports && context.output != "reports") add_file("--output", context.output);
  const Selection& selection = coverage.selection;
  if (selection.suite != Suite::kModels) add("--suite", suite_name(selection.suite));
  for (const std::string& name : selection.operators) add("--operator", name);
  for (const std::string& dtype : selection.dtypes) add("--dtype", dtype);
  if (coverage.is_split) words.push_back("--split");
  for (const std::string& category : selection.categories) add("--category", category);
  for (const std::string& model : selection.models) add("--model", model);
  words.insert(words.end(), context.options.begin(), context.options.end());
  return words;
}

std::string reproduce_command(const Coverage& coverage, const RunContext& context) {
  const std::vector<std::string> words = reproduce_words(coverage, context);
  std::string command = program_command(context, !words.empty());
  for (const std::string& word : words) command += " " + shell_word(word);
  return command;
}

std::string cut_command(const Result& result) {
  if (!result.origin || result.origin->is_graph()) return "";
  const ModelFiles& files = *result.origin;
  std::string command = "torch-ir cut " + file_word(files.path);
  if (!files.program.empty()) command += " --program " + shell_word(files.program);
  if (!files.weights.empty()) command += " --weights " + file_word(files.weights);
  return files.inputs.empty() ? command : command + " --inputs " + file_word(files.inputs[0]);
}

std::string backend_flags(const RunSettings& settings) {
  const std::string& word = settings.backend.empty() ? settings.executor : settings.backend;
  std::string flags = word.empty() ? "" : " --executor " + shell_word(word);
  // A command asks for intermediates by {intermediates}.
  if (settings.executor_is_server && settings.executor_intermediates) flags += " --per-node";
  return flags;
}

std::string plan_flags(const RunSettings& settings) {
  std::string flags;
  if (settings.seed != RunSettings().seed) flags += " --seed " + std::to_string(settings.seed);
  if (settings.optimization != Optimization::kExact) {
    flags += " --optimization " + optimization_name(settings.optimization);
  }
  if (!settings.device.is_cpu()) flags += " --device " + settings.device.str();
  return flags;
}

std::string build_setting(std::string_view config, std::string_view name) {
  for (const char* before : {", ", ": "}) {
    const std::string key = before + std::string(name) + "=";
    const size_t at = config.find(key);
    if (at == config.npos) continue;
    const std::string_view value = config.substr(at + key.size());
    return std::string(value.substr(0, value.find_first_of(",\n")));
  }
  return {};
}

Environment environment() {
  const std::string config = at::show_config();
  Environment all = {
      {"LibTorch", TORCH_VERSION},
      {"torch-ir", kVersion},
      {"LibTorch's compiler", compiler(config)},
      {"CPU instructions", at::get_cpu_capability()},
      {"BLAS", build_setting(config, "BLAS_INFO")},
      {"LAPACK", build_setting(config, "LAPACK_INFO")},
      {"MKL", headline(at::get_mkl_version())},
      {"oneDNN", headline(at::get_mkldnn_version())},
      {"OpenMP", headline(at::get_openmp_version())},
      {"oneDNN of fast", onednn_version().value_or("")},
  };
  std::erase_if(all, [](const auto& item) { return item.second.empty(); });
  return all;
}

std::string tolerance_rule_text(const RunSettings& settings) {
  const Criterion criterion = criterion_of(settings);
  if (criterion.arithmetic) {
    return fmt::format("{} times the error of eager in {} against float64", kErrorFactor,
                       arithmetic_name(*criterion.arithmetic));
  }
  const std::string by_float64 = fmt::format("error factor {} against float64", kErrorFactor);
  if (criterion.reference == ReferenceKind::kFloat64) return by_float64;
  const Tolerance& fixed = settings.tolerance.fixed;
  const std::string text = settings.tolerance.by_dtype
                               ? "by dtype"
                               : fmt::format("rtol {}, atol {}", fixed.rtol, fixed.atol);
  return text + (settings.tolerance_wins ? "" : ", or as registered") +
         (criterion.reference == ReferenceKind::kAuto ? "; else " + by_float64 : "");
}

std::string shell_word(const std::string& text) {
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
  std::string word;
  if (std::ranges::any_of(text, is_control)) {
    for (const char c : text) word += escaped(c);
    return "$'" + word + "'";
  }
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + word + "'";
}

}  // namespace torch_ir
