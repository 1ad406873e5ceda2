#include "torch_ir/harness/run/run_model.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/harness/backend/backend.h"
#include "torch_ir/harness/divergence/node_comparison.h"
#include "torch_ir/harness/stages/failure.h"
#include "torch_ir/harness/stages/stages.h"
#include "torch_ir/harness/stages/trials.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/weights/state_dict.h"

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
  text = without_folder(std::move(text), directory);
  for (const std::string& path : candidate.paths()) replace_all(text, path, file_name(path));
  return text;
}

// Writes the graph as the reports need it: without the values of constants, which may be large.
void write_graph(const IR& ir, const std::string& path) {
  IR graph = ir;
  graph.constants = StateDict();
  try {
    save_ir(graph, path);
  } catch (const SerializationError&) {
    // The next stage fails for the same reason, and says so.
  } catch (const Error& error) {
    throw OutputError(error.what());
  }
}

// Compares those outputs of which something says what they should be.
VerificationReport compare(const IR& ir, const std::vector<at::Tensor>& outputs,
                           const std::vector<at::Tensor>& expected,
                           const ToleranceRule& tolerance) {
  std::vector<std::string> names;
  std::vector<at::Tensor> compared;
  std::vector<at::Tensor> references;
  ToleranceRule rule = tolerance;
  rule.outputs.clear();
  for (size_t i = 0; i < ir.graph_outputs.size(); ++i) {
    if (i < expected.size() && !expected[i].defined()) continue;
    const auto own = tolerance.outputs.find(i);
    if (own != tolerance.outputs.end()) rule.outputs.emplace(names.size(), own->second);
    names.push_back(ir.graph_outputs[i].name);
    if (i < outputs.size()) compared.push_back(outputs[i]);
    if (i < expected.size()) references.push_back(expected[i]);
  }
  return compare_outputs(compared, references, names, rule);
}

BackendOptions backend_options(const RunSettings& settings, const std::string& directory) {
  return {.execution = {.optimization = settings.optimization, .device = settings.device},
          .name = settings.backend,
          .command = settings.executor,
          .command_has_intermediates = settings.executor_intermediates,
          .directory = directory + "/backend"};
}

std::unique_ptr<Backend> open_backend(const BackendOptions& options) {
  if (!options.is_builtin()) {
    std::error_code error;
    std::filesystem::create_directories(options.directory, error);
    if (error) throw OutputError("cannot make '" + options.directory + "': " + error.message());
  }
  return make_backend(options);
}

void check_weights(const StateDict& weights, const IR& ir) {
  const std::vector<std::string> problems = validate_weights_against_ir(weights, ir);
  if (!problems.empty()) throw LoadError(problems.front());
}

// The stages of one model, one function each.
class Pipeline {
 public:
  Pipeline(Candidate& candidate, ModelResult& result, const RunSettings& settings,
           const std::string& directory)
      : candidate_(candidate), result_(result), settings_(settings), directory_(directory) {}

  void run(Stage stage) {
    switch (stage) {
      case Stage::kExtract:
        return extract();
      case Stage::kSerialize:
        return write_and_read();
      case Stage::kExecute:
        return execute();
      case Stage::kVerify:
        return verify();
    }
  }

  // Whether a run has to be looked into: one of all, or the one that could not be executed.
  bool has_to_explain() const {
    if (runs_.empty()) return false;
    if (failed_to_execute()) return true;
    const Trial* worst = result_.worst_trial();
    const bool is_complete = result_.trials.size() == runs_.size();
    return is_complete && (settings_.per_node || !worst->verification.is_valid);
  }

  void explain() {
    const bool failed = failed_to_execute() || !result_.worst_trial()->verification.is_valid;
    Explanation explanation =
        torch_ir::explain(candidate_, ir_, candidate_.weights(), worst_run().inputs,
                          worst_run().expected, *backend_, settings_, failed, directory_ + "/repro");
    for (std::string* text : {&explanation.nodes.error, &explanation.nodes.note}) {
      *text = without_folder(std::move(*text), directory_);
    }
    if (explanation.reproducer) {
      std::string& message = explanation.reproducer->message;
      message = without_folder(std::move(message), directory_);
    }
    result_.nodes = std::move(explanation.nodes);
    result_.reproducer = std::move(explanation.reproducer);
  }

 private:
  struct Run {
    std::vector<at::Tensor> inputs;
    std::vector<at::Tensor> outputs;
    std::vector<at::Tensor> expected;
    // Whether it has its inputs.
    bool is_ready = false;
  };

  void extract() {
    ir_ = candidate_.extract();
    write_graph(ir_, directory_ + "/graph.json");
  }

  void write_and_read() { ir_ = serialize(ir_, directory_ + "/ir.json"); }

  void execute() {
    check_weights(candidate_.weights(), ir_);
    const BackendOptions options = backend_options(settings_, directory_);
    backend_ = open_backend(options);
    if (options.is_builtin()) optimization_ = settings_.optimization;
    const int num_trials = candidate_.takes_trials() ? std::max(1, settings_.trials) : 1;
    for (int trial = 0; trial < num_trials; ++trial) {
      Run& run = runs_.emplace_back();
      run.inputs = candidate_.inputs(trial);
      run.is_ready = true;
      // Operators that draw random numbers draw the same for graph and reference.
      at::manual_seed(settings_.seed);
      run.outputs = backend_->run(ir_, candidate_.weights(), run.inputs);
    }
  }

  void verify() {
    for (Run& run : runs_) {
      at::manual_seed(settings_.seed);
      run.expected = candidate_.expected(run.inputs);
      const auto number = static_cast<int>(result_.trials.size());
      Trial& trial = result_.trials.emplace_back(Trial{.name = trial_name(number)});
      trial.verification = compare(ir_, run.outputs, run.expected, settings_.tolerance);
      trial.verification.optimization = optimization_;
    }
    const Trial& worst = *result_.worst_trial();
    const Run& run = worst_run();
    if (settings_.save_tensors) {
      save_tensors(ir_, candidate_.weights(), run.inputs, run.expected, directory_);
    }
    if (!worst.verification.is_valid) {
      throw OutputMismatch(worst.verification.error_message + origin_of(worst));
    }
  }

  // On a backend that is there, with inputs that are.
  bool failed_to_execute() const {
    return result_.failure && result_.failure->stage == Stage::kExecute &&
           result_.failure->kind == FailureKind::kExecuteFailed && runs_.back().is_ready;
  }

  const Run& worst_run() const {
    if (result_.trials.empty()) return runs_.back();
    return runs_.at(static_cast<size_t>(result_.worst_trial() - result_.trials.data()));
  }

  // Which inputs it took to see a difference.
  std::string origin_of(const Trial& trial) const {
    const bool is_first = &trial == result_.trials.data();
    return is_first ? "" : " (with " + trial.name + ")";
  }

  Candidate& candidate_;
  ModelResult& result_;
  const RunSettings& settings_;
  const std::string& directory_;
  IR ir_;
  std::unique_ptr<Backend> backend_;
  std::optional<Optimization> optimization_;
  std::vector<Run> runs_;
};

}  // namespace

ModelResult run_model(Candidate& candidate, ModelResult result, const RunSettings& settings,
                      const std::string& directory,
                      const std::function<void(const ModelResult&)>& on_progress) {
  using Clock = std::chrono::steady_clock;
  at::set_num_threads(settings.threads);
  Pipeline pipeline(candidate, result, settings, directory);
  for (const Stage stage : kStages) {
    on_progress(result);
    const Clock::time_point start = Clock::now();
    const auto stop_watch = [&] {
      result.stage_seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    };
    try {
      pipeline.run(stage);
    } catch (const OutputError&) {
      throw;
    } catch (const std::exception& error) {
      stop_watch();
      result.failure = Failure{.kind = failure_kind(stage, error),
                               .stage = stage,
                               .message = error_text(error, candidate, directory)};
      break;
    }
    stop_watch();
    ++result.num_passed_stages;
    if (stage == settings.last_stage) break;
  }
  if (pipeline.has_to_explain()) {
    // What is known stays so, whatever happens on the way.
    on_progress(result);
    pipeline.explain();
  }
  return result;
}

}  // namespace torch_ir
