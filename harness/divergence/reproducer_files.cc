#include <fmt/format.h>

#include <filesystem>

#include "harness/divergence/reproducer.h"
#include "harness/results/run_context.h"
#include "harness/stages/stages.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/libraries/load_library.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

// How the outputs are judged. Figures exclude own errors.
std::string judging_flags(const RunSettings& settings) {
  const Criterion& criterion = settings.criterion;
  const ToleranceRule& rule = settings.tolerance;
  const bool is_plan_with_figures = runs_plans(settings) && !rule.by_dtype;
  if (criterion.reference == ReferenceKind::kModel ||
      (criterion.reference == ReferenceKind::kAuto && is_plan_with_figures)) {
    if (rule.by_dtype) return " --tolerance dtype";
    return fmt::format(" --rtol {} --atol {}", rule.fixed.rtol, rule.fixed.atol);
  }
  std::string flags;
  if (criterion.reference == ReferenceKind::kFloat64) flags = " --tolerance own";
  if (criterion.arithmetic) {
    flags += fmt::format(" --compute-dtype {}", arithmetic_name(*criterion.arithmetic));
  }
  return flags;
}

// Names only: the command runs in the folder of the reproducer, wherever the library is.
std::string library_names() {
  std::vector<std::string> names;
  for (const std::string& path : loaded_libraries()) names.push_back(file_name(path));
  return library_flags(names);
}

}  // namespace

StateDict used_weights(const Case& graph_case) {
  const Program& program = *graph_case.program;
  StateDict used;
  for (const GraphInput& input : program.inputs) {
    if (input.kind == InputKind::kUserInput || used.contains(input.target)) continue;
    const at::Tensor* weight = graph_case.weights.find(input.target);
    if (weight == nullptr) weight = graph_case.weights.find(program[input.value].name);
    if (weight != nullptr) used.insert(input.target, *weight);
  }
  return used;
}

Reproducer write_reproducer(Case graph_case, const RunSettings& settings,
                            const std::string& directory, const std::string& message,
                            const std::vector<at::Tensor>& actual) {
  graph_case.weights = used_weights(graph_case);
  try {
    write_output([&] {
      save_case(graph_case, directory);
      if (actual.empty()) return;
      save_weights_safetensors(outputs_by_name(*graph_case.program, actual),
                               directory + "/actual.safetensors");
    });
  } catch (const WeightError&) {
    std::error_code error;
    std::filesystem::remove_all(directory, error);
    throw;
  }
  const std::vector<Node>& nodes = graph_case.program->nodes;
  return {.num_nodes = std::ssize(nodes),
          .first_node = nodes.empty() ? "" : nodes.front().name,
          .last_node = nodes.empty() ? "" : nodes.back().name,
          .command = reproducer_command(!graph_case.expected.empty(), settings),
          .message = message};
}

std::string reproducer_command(bool has_expected, const RunSettings& settings) {
  const std::string command = "harness" + library_names() + " --ir ." + backend_flags(settings) +
                              judging_flags(settings) + plan_flags(settings);
  // Without it, the command would also run on other inputs.
  return has_expected ? command : command + " --trials 1";
}

}  // namespace torch_ir
