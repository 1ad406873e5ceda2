#include "torch_ir/harness/harness.h"

#include <string>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/harness/expected_failures.h"
#include "torch_ir/harness/interrupt.h"
#include "torch_ir/harness/pages.h"
#include "torch_ir/harness/progress.h"
#include "torch_ir/harness/report_files.h"
#include "torch_ir/models/registry.h"

namespace torch_ir {

namespace {

// What `selection` asks of the registry: the category of archives has none of its models.
Selection of_registry(Selection selection, bool has_archives) {
  const auto removed = std::erase(selection.categories, kImportedCategory);
  if (removed != 0 && !has_archives) {
    throw Error(std::string("the category '") + kImportedCategory +
                "' is that of archives, and there are none: give them with --pt2");
  }
  return selection;
}

bool is_empty(const Selection& selection) {
  return selection.models.empty() && selection.categories.empty();
}

}  // namespace

std::vector<ModelResult> run_harness(const HarnessOptions& options, const HarnessStreams& streams) {
  const std::vector<RegisteredModel> registered = list_models();
  Coverage coverage{.selection = of_registry(options.selection, !options.archives.empty()),
                    .archives = options.archives,
                    .num_registered = registered.size()};
  coverage.registry = options.archives.empty() || !is_empty(coverage.selection);
  std::vector<ModelSource> models;
  if (coverage.registry) {
    for (std::string& name : select_models(registered, coverage.selection)) {
      models.emplace_back(std::move(name));
    }
  }
  std::vector<std::string> names;
  for (const RegisteredModel& model : registered) names.push_back(model.name);
  for (Archive& archive : find_archives(options.archives, names)) {
    models.emplace_back(std::move(archive));
    ++coverage.num_archives;
  }
  RunOptions run = options.run;
  if (!options.expected_failures.empty()) {
    for (const ModelSource& model : models) names.push_back(name_of(model));
    run.expected_failures = read_expected_failures(options.expected_failures, names);
  }
  PageContext context{.settings = options.run.settings, .portable = options.portable};
  if (options.run.timeout != RunOptions().timeout) context.timeout = options.run.timeout;

  const InterruptGuard interrupt_guard;
  const ReportFiles files(options.output);
  if (options.summary) files.remove_summary();
  Progress progress(models.size(), streams.lines, streams.bar, streams.progress);
  const RunObserver observer{
      .on_start = [&](const std::string& model) { progress.start(model); },
      .on_finish =
          [&](const ModelResult& result, const std::string& directory) {
            files.write_model(result, directory, context);
            progress.finish(result);
          },
      .on_wait = [&] { progress.tick(); },
  };
  const std::vector<ModelResult> results =
      run_models(models, run, files.work_directory(), observer);
  if (options.summary) {
    files.write_summary(results, coverage, context);
  }
  return results;
}

}  // namespace torch_ir
