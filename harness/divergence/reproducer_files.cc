#include "torch_ir/harness/divergence/reproducer_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "torch_ir/executor/optimization_name.h"
#include "torch_ir/harness/results/shell_word.h"
#include "torch_ir/harness/stages/stages.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/weights/safetensors.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

StateDict by_name(const std::vector<TensorMeta>& names, const std::vector<at::Tensor>& tensors) {
  StateDict result;
  for (size_t i = 0; i < names.size(); ++i) result.insert(names[i].name, tensors.at(i));
  return result;
}

// Of the execution plan, which any program with this library has.
std::string plan_command(bool has_weights, const RunSettings& settings,
                         const std::string& tolerance) {
  std::string command = "torch-ir verify ir.json";
  if (has_weights) command += " --weights weights.safetensors";
  command += " --inputs inputs.safetensors --expected expected.safetensors" + tolerance;
  if (settings.optimization != Optimization::kExact) {
    command += fmt::format(" --optimization {}", optimization_name(settings.optimization));
  }
  if (!settings.device.is_cpu()) command += fmt::format(" --device {}", settings.device.str());
  return command;
}

// Of what runs the graphs in its place.
std::string harness_command(const RunSettings& settings, const std::string& tolerance) {
  std::string command = "harness --ir .";
  if (!settings.backend.empty()) command += " --backend " + shell_word(settings.backend);
  if (!settings.executor.empty()) command += " --executor " + shell_word(settings.executor);
  if (settings.executor_intermediates) command += " --executor-intermediates";
  command += tolerance;
  if (settings.seed != RunSettings().seed) command += fmt::format(" --seed {}", settings.seed);
  return command;
}

}  // namespace

void write_reproducer(const IR& ir, const StateDict& weights, const std::vector<at::Tensor>& inputs,
                      const std::vector<at::Tensor>& expected, const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) throw OutputError("cannot make '" + directory + "': " + error.message());
  const auto path = [&](const char* name) { return (fs::path(directory) / name).string(); };
  write_output([&] {
    save_weights_safetensors(by_name(ir.graph_inputs, inputs), path("inputs.safetensors"));
    save_weights_safetensors(by_name(ir.graph_outputs, expected), path("expected.safetensors"));
    if (!weights.is_empty()) save_weights_safetensors(weights, path("weights.safetensors"));
    save_ir(ir, path("ir.json"));
  });
}

std::string reproducer_command(bool has_weights, const Tolerance& tolerance,
                               const RunSettings& settings) {
  const std::string flags = fmt::format(" --rtol {} --atol {}", tolerance.rtol, tolerance.atol);
  const bool runs_on_plan = settings.backend.empty() && settings.executor.empty();
  return runs_on_plan ? plan_command(has_weights, settings, flags)
                      : harness_command(settings, flags);
}

}  // namespace torch_ir
