#include "harness/select_candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

// Returns the part of `selection` that applies to the registry: the category of models in files
// does not.
Selection of_registry(Selection selection, bool has_files) {
  const auto removed = std::erase(selection.categories, kImportedCategory);
  if (removed != 0 && !has_files) {
    throw Error(std::string("category '") + kImportedCategory +
                "' needs archives or graphs; give them with --pt2 or --ir");
  }
  return selection;
}

void move_suites(std::vector<ModelFiles>& files, const Selection& selection, Selected& selected) {
  std::erase_if(files, [&](const ModelFiles& argument) {
    if (argument.format != FileFormat::kGraph || !is_suite(argument.path)) return false;
    const size_t before = selected.cases.size();
    for (CaseSource& it : cases_in(argument.path)) {
      if (is_selected(it.info.op_type, it.info.dtype, selection)) {
        selected.cases.push_back(std::move(it));
      }
    }
    if (selected.cases.size() == before) {
      throw Error(flag_of(argument.format) + ": no case in '" + printable(argument.path) +
                  "' matches --operator and --dtype");
    }
    return true;
  });
}

}  // namespace

std::vector<CaseSource> cases_in(const std::string& directory) {
  std::vector<CaseSource> sources;
  for (CaseInfo& info : read_suite(directory)) {
    const std::string folder = case_folder(directory, info.name);
    sources.push_back({.info = std::move(info), .folder = folder});
  }
  return sources;
}

Selected select_candidates(const HarnessOptions& options) {
  const Scale scale = options.run.settings.scale;
  std::vector<RegisteredModel> registered = list_models(scale);
  if (!options.registry.empty()) {
    std::erase_if(registered, [&](const RegisteredModel& model) {
      return std::ranges::find(options.registry, model.name) == options.registry.end();
    });
  }
  Selected selected{.coverage = options.coverage};
  Coverage& coverage = selected.coverage;
  if (coverage.selection.suite == Suite::kOperators) {
    for (const OperatorCase& it : select_cases(list_operator_cases(), coverage.selection)) {
      selected.cases.push_back(CaseSource{.info = info_of(it)});
    }
    return selected;
  }
  std::vector<ModelFiles> files = coverage.files;
  move_suites(files, coverage.selection, selected);
  coverage.selection = of_registry(coverage.selection, !coverage.files.empty());
  coverage.num_registered = registered.size();
  RegistryNames names;
  for (const RegisteredModel& model : registered) names.all.push_back(model.name);
  if (coverage.has_registry()) names.running = select_models(registered, coverage.selection);
  for (const std::string& name : names.running) selected.models.emplace_back(name);
  for (ModelFiles& model : find_model_files(files, names)) {
    selected.models.emplace_back(std::move(model));
  }
  return selected;
}

std::vector<std::string> names_of(const std::vector<ModelSource>& models) {
  std::vector<std::string> names;
  for (const ModelSource& model : models) names.push_back(name_of(model));
  return names;
}

std::vector<std::string> parts_below(const std::string& folder, const std::string& file) {
  namespace fs = std::filesystem;
  // Of a relative path of which nothing exists, weakly_canonical makes no absolute one.
  std::error_code error;
  const fs::path base = fs::weakly_canonical(fs::absolute(folder), error);
  const fs::path below = fs::weakly_canonical(fs::absolute(file), error).lexically_relative(base);
  return {below.begin(), below.end()};
}

std::vector<std::string> unsplit_lines(const std::vector<SuiteProblem>& problems) {
  std::vector<std::string> lines;
  for (const SuiteProblem& problem : problems) {
    lines.push_back(fmt::format("cannot split {}{}: {}", printable(problem.name),
                                problem.is_partial ? " completely" : "",
                                printable(problem.message, SIZE_MAX)));
  }
  return lines;
}

}  // namespace torch_ir
