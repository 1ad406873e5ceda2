#include "torch_ir/harness/run_model.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include <array>
#include <string>
#include <vector>

#include "torch_ir/harness/stages.h"

namespace torch_ir {
namespace {

// What `exception` says, without what differs from run to run: the addresses of a backtrace, and
// the folder that the process works in.
std::string error_text(const std::exception& exception, const std::string& directory) {
  const auto* error = dynamic_cast<const c10::Error*>(&exception);
  std::string text = error != nullptr ? error->what_without_backtrace() : exception.what();
  const std::string prefix = directory + "/";
  for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
    text.erase(at, prefix.size());
  }
  return text;
}

// The graph as the reports need it: the values of constants stay in the file.
IR without_values(IR ir) {
  ir.constants = StateDict();
  return ir;
}

std::vector<std::string> names(const std::vector<TensorMeta>& values) {
  std::vector<std::string> result;
  for (const TensorMeta& value : values) result.push_back(value.name);
  return result;
}

}  // namespace

ModelResult run_model(const RegisteredModel& model, const RunSettings& settings,
                      const std::string& directory,
                      const std::function<void(const ModelResult&)>& on_progress) {
  at::set_num_threads(settings.threads);
  ModelResult result{.name = model.name,
                     .description = model.spec.description,
                     .categories = model.spec.categories};
  Subject subject{.model = ModelFn(), .weights = StateDict(), .inputs = {}};
  IR ir;
  std::vector<at::Tensor> outputs;
  const std::array<std::function<void()>, kStages.size()> stages = {
      [&] {
        subject = make_subject(model, settings.seed);
        ir = extract(model, subject);
        result.graph = without_values(ir);
      },
      [&] { ir = serialize(ir, directory + "/ir.json"); },
      [&] { outputs = execute(ir, subject); },
      [&] {
        const std::vector<at::Tensor> expected = run_eagerly(subject);
        if (settings.save_tensors) save_tensors(ir, subject, expected, directory);
        result.verification =
            compare_outputs(outputs, expected, names(ir.graph_outputs), settings.tolerance);
        if (!result.verification->is_valid) throw Error(result.verification->error_message);
      },
  };
  for (const Stage stage : kStages) {
    on_progress(result);
    try {
      stages.at(static_cast<size_t>(stage))();
    } catch (const OutputError&) {
      throw;
    } catch (const std::exception& error) {
      result.failure = Failure{.stage = stage, .message = error_text(error, directory)};
      return result;
    }
    ++result.num_passed_stages;
  }
  return result;
}

}  // namespace torch_ir
