#include "torch_ir/harness/run_model.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/harness/stages.h"

namespace torch_ir {
namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  if (from.empty()) return;
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// What `exception` says, without what differs from run to run: the addresses of a backtrace, and
// the folders of files.
std::string error_text(const std::exception& exception, const Candidate& candidate,
                       const std::string& directory) {
  const auto* error = dynamic_cast<const c10::Error*>(&exception);
  std::string text = error != nullptr ? error->what_without_backtrace() : exception.what();
  replace_all(text, directory + "/", "");
  for (const std::string& path : candidate.paths()) replace_all(text, path, file_name(path));
  return text;
}

// The graph as the reports need it: the values of constants stay in the file.
IR without_values(IR ir) {
  ir.constants = StateDict();
  return ir;
}

// Compares those outputs of which something says what they should be.
VerificationReport compare(const IR& ir, const std::vector<at::Tensor>& outputs,
                           const std::vector<at::Tensor>& expected,
                           const ToleranceRule& tolerance) {
  std::vector<std::string> names;
  std::vector<at::Tensor> compared;
  std::vector<at::Tensor> references;
  for (size_t i = 0; i < ir.graph_outputs.size(); ++i) {
    if (i < expected.size() && !expected[i].defined()) continue;
    names.push_back(ir.graph_outputs[i].name);
    if (i < outputs.size()) compared.push_back(outputs[i]);
    if (i < expected.size()) references.push_back(expected[i]);
  }
  return compare_outputs(compared, references, names, tolerance);
}

}  // namespace

ModelResult run_model(Candidate& candidate, ModelResult result, const RunSettings& settings,
                      const std::string& directory,
                      const std::function<void(const ModelResult&)>& on_progress) {
  at::set_num_threads(settings.threads);
  IR ir;
  std::vector<at::Tensor> inputs;
  std::vector<at::Tensor> outputs;
  const std::array<std::function<void()>, kStages.size()> stages = {
      [&] {
        ir = candidate.extract();
        result.graph = without_values(ir);
      },
      [&] { ir = serialize(ir, directory + "/ir.json"); },
      [&] {
        inputs = candidate.inputs();
        // Operators that draw random numbers draw the same for graph and reference.
        at::manual_seed(settings.seed);
        outputs = execute(ir, candidate.weights(), inputs,
                          {.optimization = settings.optimization, .device = settings.device});
      },
      [&] {
        at::manual_seed(settings.seed);
        const std::vector<at::Tensor> expected = candidate.expected(inputs);
        if (settings.save_tensors) {
          save_tensors(ir, candidate.weights(), inputs, expected, directory);
        }
        Trial& trial = result.trials.emplace_back(Trial{.name = "normal values"});
        trial.verification = compare(ir, outputs, expected, settings.tolerance);
        trial.verification.optimization = settings.optimization;
        if (!trial.verification.is_valid) throw Error(trial.verification.error_message);
      },
  };
  for (const Stage stage : kStages) {
    on_progress(result);
    try {
      stages.at(static_cast<size_t>(stage))();
    } catch (const OutputError&) {
      throw;
    } catch (const std::exception& error) {
      result.failure = Failure{.stage = stage, .message = error_text(error, candidate, directory)};
      return result;
    }
    ++result.num_passed_stages;
  }
  return result;
}

}  // namespace torch_ir
