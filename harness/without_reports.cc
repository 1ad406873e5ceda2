// The commands that write no reports: harness supported and harness export.

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "harness/harness.h"
#include "harness/process/supervise.h"
#include "harness/run/make_suite.h"
#include "harness/run/runner.h"
#include "harness/select_candidates.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/work_directory.h"

namespace torch_ir {
namespace {

std::unique_ptr<WorkDirectory> make_temporary_directory() {
  try {
    return std::make_unique<WorkDirectory>(std::filesystem::temp_directory_path());
  } catch (const std::exception& error) {
    const char* directory = std::getenv("TMPDIR");
    throw Error(std::string("cannot create a temporary folder; TMPDIR is ") +
                (directory == nullptr ? "not set" : "'" + std::string(directory) + "'") + ": " +
                error.what());
  }
}

}  // namespace

SupportReport supported_models(const HarnessOptions& options, const std::string& list) {
  const SupportedOperators operators = SupportedOperators::load(list);
  const Selected selected = select_candidates(options);
  RunOptions run_options = options.run;
  run_options.settings.last_stage = Stage::kExtract;
  const InterruptGuard interrupt_guard;
  const std::unique_ptr<WorkDirectory> work_directory = make_temporary_directory();
  std::map<std::string, GraphOperators> graphs;
  const RunObserver observer{.on_finish = [&](Result& result, const std::string&) {
    graphs[result.name] = result.graph ? operators_of(result.name, result.program())
                                       : GraphOperators{.name = result.name,
                                                        .operators = {},
                                                        .error = headline(result.failure->message)};
  }};
  run_candidates(selected.models, run_options, work_directory->path().string(), observer);
  if (InterruptGuard::interrupted()) throw Interrupted("interrupted");
  std::vector<GraphOperators> in_order;
  for (const ModelSource& model : selected.models) in_order.push_back(graphs.at(name_of(model)));
  return supported(in_order, operators);
}

MadeSuite export_suite(const HarnessOptions& options, const std::string& directory) {
  const Selected selected = select_candidates(options);
  for (const ModelSource& model : selected.models) {
    const auto* files = std::get_if<ModelFiles>(&model);
    if (files == nullptr || files->inputs.size() <= 1) continue;
    throw Error(fmt::format("export writes one set of inputs of a model; '{}' has {}",
                            printable(files->path), files->inputs.size()));
  }
  const bool is_operators = options.coverage.selection.suite == Suite::kOperators;
  // No model has run, which would tell whether an executor has groups.
  std::vector<std::string> names;
  if (!runs_plans(options.run.settings)) names = names_of(selected.models);
  const InterruptGuard interrupt_guard;
  return make_suite({.output = directory,
                     .content = is_operators ? "operators" : "models",
                     .candidates = is_operators ? selected.cases : selected.models,
                     .is_split = options.coverage.is_split,
                     .keeps_groups = names},
                    options.run);
}

}  // namespace torch_ir
