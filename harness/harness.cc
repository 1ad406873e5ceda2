#include "torch_ir/harness/harness.h"

#include "torch_ir/harness/interrupt.h"
#include "torch_ir/harness/pages.h"
#include "torch_ir/harness/progress.h"
#include "torch_ir/harness/report_files.h"
#include "torch_ir/models/registry.h"

namespace torch_ir {

std::vector<ModelResult> run_harness(const HarnessOptions& options, const HarnessStreams& streams) {
  const std::vector<RegisteredModel> registered = list_models();
  const std::vector<std::string> models = select_models(registered, options.selection);
  PageContext context{.settings = options.run.settings, .portable = options.portable};
  if (options.run.timeout != RunOptions().timeout) context.timeout = options.run.timeout;

  const InterruptGuard interrupt_guard;
  const ReportFiles files(options.output);
  if (options.summary) files.remove_summary();
  Progress progress(models.size(), streams.lines, streams.bar);
  const RunObserver observer{
      .on_start = [&](const std::string& model) { progress.start(model); },
      .on_finish =
          [&](const ModelResult& result, const std::string& directory) {
            files.write_model(result, directory, context);
            progress.finish(result);
          },
  };
  const std::vector<ModelResult> results =
      run_models(models, options.run, files.work_directory(), observer);
  if (options.summary) {
    files.write_summary(
        results, Coverage{.selection = options.selection, .num_registered = registered.size()},
        context);
  }
  return results;
}

}  // namespace torch_ir
