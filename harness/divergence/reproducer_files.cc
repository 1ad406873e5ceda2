#include "harness/divergence/reproducer_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "harness/results/run_context.h"
#include "harness/stages/stages.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/libraries/load_library.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

std::string tolerance_flags(const Tolerance& tolerance) {
  return fmt::format(" --rtol {} --atol {}", tolerance.rtol, tolerance.atol);
}

// Flags of the harness; only the harness compares with float64.
std::string criterion_flags(const RunSettings& settings) {
  const Criterion& criterion = settings.criterion;
  std::string flags;
  if (criterion.reference == ReferenceKind::kFloat64) flags = " --tolerance own";
  if (criterion.arithmetic) {
    flags += fmt::format(" --compute-dtype {}", arithmetic_name(*criterion.arithmetic));
  }
  const bool is_default = criterion.error_factor == Criterion().error_factor;
  return is_default ? flags : flags + fmt::format(" --error-factor {}", criterion.error_factor);
}

// Names only: the command runs in the folder of the reproducer, wherever the library is.
std::string library_names() {
  std::vector<std::string> names;
  for (const std::string& path : loaded_libraries()) names.push_back(file_name(path));
  return library_flags(names);
}

std::string harness_command(const RunSettings& settings, const std::string& tolerance) {
  return "harness" + library_names() + " --ir ." + backend_flags(settings) + tolerance +
         plan_flags(settings);
}

}  // namespace

void write_reproducer(const Case& graph_case, const std::string& directory,
                      const std::vector<at::Tensor>& actual) {
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
}

std::string reproducer_command(bool has_weights, const Tolerance& tolerance,
                               const RunSettings& settings) {
  const ReferenceKind reference = settings.criterion.reference;
  const bool by_float64 = reference == ReferenceKind::kFloat64 ||
                          (reference == ReferenceKind::kAuto && !runs_plans(settings));
  if (by_float64) return harness_command(settings, criterion_flags(settings));
  if (!runs_plans(settings)) return harness_command(settings, tolerance_flags(tolerance));
  // torch-ir can run the execution plan as well.
  return "torch-ir verify" + library_names() + " ir.json" +
         (has_weights ? " --weights weights.safetensors" : "") +
         " --inputs inputs.safetensors --expected expected.safetensors" +
         tolerance_flags(tolerance) + plan_flags(settings);
}

std::string whole_graph_command(bool has_expected, const RunSettings& settings) {
  const ToleranceRule& rule = settings.tolerance;
  const std::string command = harness_command(
      settings, settings.criterion.reference != ReferenceKind::kModel ? criterion_flags(settings)
                : rule.by_dtype                                       ? " --tolerance dtype"
                                : tolerance_flags(rule.fixed));
  // Without it, the command would also run on other inputs.
  return has_expected ? command : command + " --trials 1";
}

}  // namespace torch_ir
