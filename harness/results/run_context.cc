#include "harness/results/run_context.h"

#include <fmt/format.h>

#include <string_view>

#include "harness/results/shell_word.h"
#include "torch_ir/executor/graph/execution_options.h"

namespace torch_ir {
namespace {

// A rule that goes before those of the models was asked for, all of it.
template <class Add>
void add_tolerance(const RunSettings& settings, const Add& add) {
  const Tolerance defaults = RunSettings().tolerance.fixed;
  const Tolerance& fixed = settings.tolerance.fixed;
  if (settings.tolerance.by_dtype) {
    add("--tolerance", "dtype");
    return;
  }
  if (settings.tolerance_wins || fixed.rtol != defaults.rtol) {
    add("--rtol", fmt::format("{}", fixed.rtol));
  }
  if (settings.tolerance_wins || fixed.atol != defaults.atol) {
    add("--atol", fmt::format("{}", fixed.atol));
  }
}

// Up to its options. No backend is linked into //harness: whatever program has one is another.
std::string program_command(const RunContext& context, bool has_options) {
  if (!context.program.empty()) return shell_word(context.program);
  if (!context.settings.backend.empty()) return "harness";
  return std::string("tools/bazel run //harness") + (has_options ? " --" : "");
}

}  // namespace

Coverage coverage_of(const ModelResult& result) {
  if (!result.origin) return {.selection = {.models = {result.name}}};
  const Origin& origin = *result.origin;
  if (origin.graph.empty()) {
    return {
        .files = {{.path = origin.archive, .inputs = origin.inputs, .expected = origin.expected}}};
  }
  // Those that lie beside a graph are taken anyway.
  const auto unless_beside = [&](const std::string& file, const std::string& kind) {
    constexpr std::string_view kExtension = ".json";
    const bool is_folder = !origin.graph.ends_with(kExtension);
    const std::string stem = origin.graph.substr(0, origin.graph.size() - kExtension.size());
    return file == (is_folder ? "" : stem + ".") + kind + ".safetensors" ? "" : file;
  };
  return {.files = {{.format = FileFormat::kGraph,
                     .path = origin.graph,
                     .inputs = unless_beside(origin.inputs, "inputs"),
                     .expected = unless_beside(origin.expected, "expected")}}};
}

std::string reproduce_command(const Coverage& coverage, const RunContext& context) {
  const RunSettings& settings = context.settings;
  const RunSettings defaults;
  std::string options;
  const auto add = [&](const char* flag, const std::string& value) {
    options += std::string(" ") + flag + " " + value;
  };
  const auto add_file = [&](const char* flag, const std::string& path) {
    if (!path.empty()) add(flag, shell_word(file_name(path)));
  };
  for (const ModelFilesArgument& files : coverage.files) {
    add(flag_of(files.format).c_str(), shell_word(files.short_name()));
    add_file("--inputs", files.inputs);
    add_file("--expected", files.expected);
  }
  for (const std::string& category : coverage.selection.categories) add("--category", category);
  for (const std::string& model : coverage.selection.models) add("--model", model);
  if (settings.seed != defaults.seed) add("--seed", std::to_string(settings.seed));
  if (settings.trials != defaults.trials) add("--trials", std::to_string(settings.trials));
  add_tolerance(settings, add);
  if (settings.optimization != defaults.optimization) {
    add("--optimization", optimization_name(settings.optimization));
  }
  if (settings.device != defaults.device) add("--device", settings.device.str());
  if (!settings.backend.empty()) add("--backend", shell_word(settings.backend));
  if (!settings.executor.empty()) add("--executor", shell_word(settings.executor));
  if (settings.executor_intermediates) options += " --executor-intermediates";
  if (settings.per_node) options += " --per-node";
  if (context.timeout) add("--timeout", fmt::format("{}", context.timeout->count()));
  if (context.memory_limit) {
    add("--memory-limit", fmt::format("{}", static_cast<double>(*context.memory_limit) / 1e6));
  }
  add_file("--expected-failures", context.expected_failures);
  add_file("--baseline", context.baseline);
  if (settings.save_tensors) options += " --save-tensors";
  if (context.timings) options += " --timings";
  return program_command(context, !options.empty()) + options + "\n";
}

}  // namespace torch_ir
