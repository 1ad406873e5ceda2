#include "harness/run/run_candidate.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <tuple>
#include <utility>

#include "harness/backend/command_backend.h"
#include "harness/backend/open_backend.h"
#include "harness/divergence/against_float.h"
#include "harness/divergence/node_comparison.h"
#include "harness/report/graph_picture.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/runtime/check_values.h"
#include "torch_ir/runtime/graph/graph_memory.h"
#include "torch_ir/runtime/graph/memory_overlap.h"
#include "torch_ir/runtime/graph/state.h"
#include "torch_ir/runtime/graph/symbol_binder.h"
#include "torch_ir/verifier/judge_run.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

// Sorted by symbol. The inputs must fit.
std::vector<std::pair<std::string, int64_t>> sizes_of(const Case& graph_case) {
  const SymbolValues values = bind_symbols(*graph_case.program, graph_case.inputs);
  std::vector<std::pair<std::string, int64_t>> sizes(values.begin(), values.end());
  std::ranges::sort(sizes);
  return sizes;
}

void add_report(const ExecutorReport& report, std::optional<ExecutorReport>& all) {
  if (!all) return all.emplace(report), void();
  const bool is_worse = report.on_host().size() >= all->on_host().size();
  if (is_worse && !report.nodes.empty()) all->nodes = report.nodes;
}

// Returns null without --against.
std::unique_ptr<FloatModel> float_model(const ModelSource& source, const RunSettings& settings) {
  const auto* files = std::get_if<ModelFiles>(&source);
  if (files == nullptr || files->against.empty()) return nullptr;
  return std::make_unique<FloatModel>(files->against, settings);
}

class Pipeline {
 public:
  // Makes `backend` when it is needed, unless a request before has made it.
  Pipeline(const RunRequest& request, const RunSettings& settings,
           std::shared_ptr<Backend>& backend, const TellNews& tell)
      : request_(request),
        directory_(request.directory),
        settings_(settings),
        tell_(tell),
        backend_(backend),
        candidate_(make_candidate(request.source, settings)),
        is_call_(candidate_->is_call),
        floating_(float_model(request.source, settings)),
        result_{.name = torch_ir::name_of(request.source)} {
    if (!is_call_) return;
    // The calls of a split model are no steps, and lack the names that its steps carry.
    settings_.steps = 1;
    settings_.carry.clear();
  }

  Result run() {
    at::set_num_threads(settings_.threads);
    for (const Stage stage : kStages) {
      result_.current_trial = 0;
      result_.current_trial_name.clear();
      tell_progress();
      if (!passes(stage) || stage == settings_.last_stage) break;
    }
    if (has_to_explain()) {
      // Reports these results now, in case the explanation ends the process.
      tell_progress();
      explain();
    }
    if (result_.passed()) {
      const auto passed_by = [](const Trial& trial) { return trial.verification.passed_by; };
      result_.passed_by = passed_by(*std::ranges::max_element(result_.trials, {}, passed_by));
    }
    if (is_call_) return keep_figures();
    if (floating_ && result_.num_passed_stages > 0) {
      result_.against = floating_->unfinished();
      tell_progress();
      result_.against = floating_->compare(*candidate_, resolve(ir_));
    }
    if (settings_.last_stage == Stage::kVerify) {
      tell_progress();
      draw();
    }
    return std::move(result_);
  }

 private:
  struct Run {
    int trial = 0;
    int step = 0;
    // As it begins for the backend, then, from the comparison on, for the model.
    Case graph_case = {};
    // For the model, with its outputs; without a program until these are known.
    Case of_model = {};
    std::vector<at::Tensor> outputs = {};
    // Of runs on equal inputs that gave others (RunSettings::repeat).
    std::vector<std::vector<at::Tensor>> other_outputs = {};
    std::vector<NodeGroup> groups = {};
    bool is_ready = false;
  };

  void tell_progress() const { tell_progress(result_); }
  void tell_progress(const Result& result) const {
    is_call_ ? tell_(result.num_passed_stages) : tell_(json_fields::write(result));
  }

  bool passes(Stage stage) {
    const AllocationWatch memory;
    try {
      run(stage);
    } catch (const OutputError&) {
      throw;
    } catch (const InputError&) {
      throw;
    } catch (const std::exception& error) {
      fail(stage, error, memory);
      return false;
    }
    ++result_.num_passed_stages;
    return true;
  }

  void fail(Stage stage, const std::exception& error, const AllocationWatch& memory) {
    const std::string message = in_run(error_text(error));
    const bool is_unsupported_run = stage >= Stage::kExecute && is_unsupported(error);
    const auto* command = dynamic_cast<const CommandFailure*>(&error);
    if (is_unsupported_run && !settings_.requires_support) {
      result_.unsupported = headline(message);
    } else {
      result_.failure =
          Failure{.kind = failure_kind(stage, error, memory), .stage = stage, .message = message};
      if (is_unsupported_run) result_.failure->kind = FailureKind::kUnsupported;
      // That of the command is an answer to a call.
      if (is_call_ && command != nullptr && command->end().has_crashed) {
        result_.failure->kind = FailureKind::kCrashed;
      }
    }
    if (stage != Stage::kExecute) return;
    tell_progress();
    keep_trials();
  }

  // Removes backtraces and the folders of files, because they differ from run to run.
  std::string error_text(const std::exception& exception) const {
    const auto* error = dynamic_cast<const c10::Error*>(&exception);
    std::string text = error != nullptr ? error->what_without_backtrace() : exception.what();
    text = without_folder(std::move(text), directory_);
    for (const std::string& path : candidate_->paths()) {
      c10::ReplaceAll(text, path, file_name(path));
    }
    return text;
  }

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

  bool has_to_explain() const {
    if (runs_.empty() || result_.lacks_support() || is_call_) return false;
    if (failed_to_execute()) return true;
    const Trial* worst = result_.worst_trial();
    const bool is_complete = result_.trials.size() == runs_.size();
    return is_complete && (settings_.per_node || !worst->verification.is_valid);
  }

  void explain() {
    const bool failed = failed_to_execute() || !result_.worst_trial()->verification.is_valid;
    Run& worst = worst_run();
    // Of trials that pass, the first is kept: the worst may be another one in each run.
    const bool keeps_first = !failed && &worst != &runs_.front();
    if (settings_.save_values && keeps_first) {
      torch_ir::explain(run_to_explain(runs_.front(), /*keeps_values=*/true), *backend_,
                        /*failed=*/false);
    }
    const ExplainedRun run = run_to_explain(worst, /*keeps_values=*/!keeps_first);
    Explanation explanation =
        torch_ir::explain(run, *backend_, failed, [&](const NodeReport& nodes) {
          result_.nodes = to_show(nodes);
          result_.is_searching = failed;
          tell_progress();
        });
    result_.is_searching = false;
    result_.nodes = to_show(std::move(explanation.nodes));
    result_.reproducer = std::move(explanation.reproducer);
    if (result_.reproducer) {
      result_.reproducer->trial = name_of(worst);
      std::string& message = result_.reproducer->message;
      message = without_folder(std::move(message), directory_);
    }
  }

  // Names the step and the trial of the run that `message` is about.
  std::string in_run(std::string message) const {
    const auto number = static_cast<size_t>(result_.current_trial);
    if (number >= runs_.size()) return candidate_->in_trial(std::move(message), 0);
    const Run& run = runs_[number];
    message = candidate_->in_trial(std::move(message), run.trial);
    return settings_.steps > 1 ? fmt::format("step {}, {}", run.step + 1, message) : message;
  }

  // If the last trial could not be executed, the earlier ones are still compared.
  void keep_trials() {
    if (runs_.size() < 2 || !runs_.back().is_ready || is_call_) return;
    try {
      for (size_t i = 0; i + 1 < runs_.size(); ++i) verify(runs_[i]);
    } catch (const std::exception&) {
      // The model itself fails; this result is about another failure.
      return result_.trials.clear();
    }
    Trial& last = result_.trials.emplace_back(Trial{name_of(runs_.back())});
    last.verification.tolerance = settings_.tolerance;
    last.verification.error_message = "The graph could not be executed.";
  }

  ExplainedRun run_to_explain(const Run& run, bool keeps_values) {
    candidate_->set_step(run.step, run.graph_case.weights);
    const bool saves = settings_.save_values && keeps_values;
    if (saves) result_.kept_trial = name_of(run);
    return {.candidate = *candidate_,
            .graph_case = run.graph_case,
            .settings = settings_,
            .directory = directory_ + "/repro",
            .values_file = saves ? directory_ + "/values.safetensors" : "",
            .groups = groups_of(run),
            .trial = run.trial};
  }

  // A plan says only together with values what it fuses.
  std::vector<NodeGroup> groups_of(const Run& run) const {
    if (!runs_plans(settings_) || failed_to_execute()) return run.groups;
    backend_->values(run.graph_case);
    return backend_->groups();
  }

  NodeReport to_show(NodeReport nodes) const {
    for (std::string* text : {&nodes.error, &nodes.note}) {
      *text = without_folder(std::move(*text), directory_);
    }
    return nodes;
  }

  void extract() {
    ir_ = candidate_->extract();
    // A case has tolerances of its own.
    if (!settings_.tolerance_wins) candidate_->set_tolerance(settings_.tolerance);
    if (is_call_) return;
    write_graph();
    if (floating_) floating_->check_inputs(resolve(ir_));
  }

  // Leaves out the values of constants, which may be large.
  void write_graph() const {
    IR graph = ir_;
    graph.constants = StateDict();
    try {
      write_output([&] { save_ir(graph, directory_ + kGraphFile); });
    } catch (const SerializationError&) {
      // The next stage fails for the same reason and reports it.
    }
  }

  void write_and_read() {
    const std::string path = is_call_ ? "" : directory_ + "/ir.json";
    program_ = std::make_shared<const Program>(serialize(ir_, path));
    try {
      carried_ = carried_values(*program_, settings_.carry);
    } catch (const Error& error) {
      throw InputError(fmt::format("'{}': {}", printable(result_.name), error.what()));
    }
    const std::optional<Arithmetic>& arithmetic = settings_.criterion.arithmetic;
    if (arithmetic && !is_call_ && !has_floating_point(*program_)) {
      throw InputError(fmt::format("--compute-dtype {}: '{}' has no floating-point values",
                                   arithmetic_name(*arithmetic), printable(result_.name)));
    }
  }

  void execute() {
    if (!backend_) backend_ = open_backend(settings_, request_.backend_directory);
    const int num_steps = settings_.steps;
    first_ = {.program = program_, .weights = candidate_->weights()};
    if (num_steps > 1) keep_first_state();
    int num_trials = candidate_->num_given();
    for (int number = 0; number < num_trials * num_steps; ++number) {
      Run& run = runs_.emplace_back(Run{.trial = number / num_steps, .step = number % num_steps});
      begin_run(static_cast<size_t>(number));
      run.graph_case = beginning_of(run);
      if (run.step > 0) hand_on(runs_.at(static_cast<size_t>(number) - 1), run);
      const std::vector<std::string> problems = value_problems(run.graph_case);
      if (!problems.empty()) throw LoadError(problem_list(problems, "its weights and inputs"));
      run.is_ready = true;
      if (number == 0) result_.sizes = sizes_of(run.graph_case);
      // The graph and the reference must draw the same random numbers.
      at::manual_seed(candidate_->random_seed(settings_));
      run.outputs = run_grouped(*backend_, for_backend(run.graph_case), run.groups);
      if (const auto report = backend_->last_report()) add_report(*report, result_.executor);
      repeat(run);
      if (number + 1 != candidate_->num_given() * num_steps) continue;
      // Now the model itself runs. If that ends the process, the stage verify has failed.
      Result verifying = result_;
      ++verifying.num_passed_stages;
      tell_progress(verifying);
      candidate_->set_step(0, first_.weights);
      num_trials = candidate_->choose_trials(settings_);
      result_.not_tried = candidate_->not_tried();
    }
  }

  // Runs the graph on equal inputs, and keeps the outputs that differ from those of the first run.
  void repeat(Run& run) {
    int num_others = 0;
    for (int i = 1; i < settings_.repeat; ++i) {
      at::manual_seed(candidate_->random_seed(settings_));
      std::vector<at::Tensor> outputs = run_on(*backend_, for_backend(run.graph_case));
      if (!std::ranges::equal(outputs, run.outputs, same_bits)) {
        // A device that never returns the same would fill the memory.
        constexpr int kMostKept = 8;
        if (num_others++ < kMostKept) run.other_outputs.push_back(std::move(outputs));
      }
    }
    if (run.other_outputs.empty() || !result_.varies.empty()) return;
    const std::string first =
        first_varying_value(*backend_, for_backend(run.graph_case),
                            candidate_->random_seed(settings_), settings_.repeat);
    result_.varies = fmt::format("{} of {} runs{}", num_others, settings_.repeat,
                                 first.empty() ? "" : ", first at " + first);
  }

  // The model writes to its own.
  void keep_first_state() {
    first_.inputs = candidate_->inputs(0);
    for (const Mutation& state : program_->mutations) {
      at::Tensor& tensor = tensor_of(first_, state.placeholder);
      if (tensor.defined()) tensor = tensor.clone();
    }
  }

  // The case of a run, with the state of a first step.
  Case beginning_of(const Run& run) {
    candidate_->set_step(run.step, first_.weights);
    Case graph_case = first_;
    graph_case.inputs = candidate_->inputs(run.trial);
    return graph_case;
  }

  // State that the backend did not return is the model's.
  void hand_on(Run& last, Run& next) {
    // The comparison reports a wrong number of outputs.
    last.outputs.resize(std::max(last.outputs.size(), program_->outputs.size()));
    const auto is_missing = [&](const Mutation& value) {
      return !last.outputs[value.output].defined();
    };
    if (std::ranges::any_of(carried_, is_missing)) {
      carry(carried_, of_model(last).expected, next.graph_case);
    }
    carry(carried_, last.outputs, next.graph_case);
  }

  // One plan runs all steps: with the state among its inputs, program and weights stay the same.
  Case for_backend(const Case& graph_case) {
    if (settings_.steps == 1 || !runs_plans(settings_)) return graph_case;
    Case with_inputs = with_carried_inputs(carried_, graph_case);
    if (!program_of_steps_) program_of_steps_ = with_inputs.program;
    with_inputs.program = program_of_steps_;
    with_inputs.weights = first_.weights;
    return with_inputs;
  }

  // The model's run, on the state that it left in the step before.
  const Case& of_model(Run& run) {
    if (run.of_model.program != nullptr) return run.of_model;
    Case model = run.step == 0 ? run.graph_case : beginning_of(run);
    if (run.step > 0) carry(carried_, of_model(*(&run - 1)).expected, model);
    candidate_->set_step(run.step, model.weights);
    at::manual_seed(candidate_->random_seed(settings_));
    model.expected = candidate_->expected(run.trial, model.inputs);
    return run.of_model = std::move(model);
  }

  void begin_run(size_t number) {
    result_.current_trial = static_cast<int>(number);
    const Run& run = runs_.at(number);
    result_.current_trial_name =
        settings_.steps > 1 ? name_of(run) : candidate_->unusual_trial(run.trial);
    if (number > 0) tell_progress();
  }

  std::string name_of(const Run& run) const {
    const std::string name = candidate_->trial_name(run.trial);
    return settings_.steps > 1 ? fmt::format("{}, step {}", name, run.step + 1) : name;
  }

  void verify(Run& run) {
    run.graph_case = of_model(run);
    VerificationReport worst = judged(run);
    // The worst of the runs on equal inputs counts.
    for (std::vector<at::Tensor>& others : run.other_outputs) {
      std::swap(run.outputs, others);
      VerificationReport report = judged(run);
      if (badness(report) > badness(worst)) {
        worst = std::move(report);
      } else {
        std::swap(run.outputs, others);
      }
    }
    result_.trials.push_back({.name = name_of(run), .verification = std::move(worst)});
  }

  VerificationReport judged(const Run& run) {
    Case compared = run.graph_case;
    std::vector<at::Tensor> outputs;
    std::tie(outputs, compared.expected) =
        candidate_->compared(run.outputs, run.graph_case.expected);
    GraphRun graph_run =
        run_to_judge(*backend_, compared, outputs, candidate_->random_seed(settings_));
    graph_run.proves_graph = !is_call_ && !runs_plans(settings_);
    // A single call rounds nothing but its outputs.
    if (is_call_) graph_run.rerun = nullptr;
    const bool is_eager = runs_plans(settings_) && settings_.device.is_cpu() &&
                          settings_.optimization == Optimization::kExact;
    // It ran by the operators that eager calls, with their bits.
    if (is_eager) graph_run.run_eagerly = [&] { return run.outputs; };
    graph_run.describe = [&, describe = graph_run.describe](const std::exception& error) {
      describe(error);
      return headline(error_text(error));
    };
    if (settings_.criterion.arithmetic && !run.groups.empty()) {
      graph_run.inside = group_nodes(*program_, memory_of(compared), run.groups).inside;
    }
    const bool is_judged = candidate_->compares_elements(run.trial);
    VerificationReport report = judge_run(graph_run, settings_.tolerance,
                                          is_judged ? criterion_of(settings_) : Criterion());
    if (runs_plans(settings_)) report.optimization = settings_.optimization;
    const std::optional<Arithmetic>& arithmetic = settings_.criterion.arithmetic;
    if (arithmetic && !report.arithmetic && is_judged) {
      report.arithmetic = report_on_arithmetic(compared, *arithmetic, graph_run.inside);
    }
    return report;
  }

  void verify() {
    for (size_t i = 0; i < runs_.size(); ++i) {
      begin_run(i);
      verify(runs_[i]);
      if (result_.trials.back().verification.is_valid) continue;
      if (is_call_) break;
      // The steps after the first that fails tell nothing.
      const auto next = runs_.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      const auto last =
          std::find_if(next, runs_.end(), [](const Run& run) { return run.step == 0; });
      runs_.erase(next, last);
    }
    const Trial& worst = *result_.worst_trial();
    if (settings_.save_tensors) {
      const Run& run = worst_run();
      write_output([&] {
        save_tensors(run.graph_case, directory_, WeightsFile::kAlways);
        save_weights_safetensors(outputs_by_name(*run.graph_case.program, run.outputs),
                                 directory_ + "/outputs.safetensors");
      });
    }
    if (!worst.verification.is_valid) {
      result_.current_trial = static_cast<int>(&worst - result_.trials.data());
      throw OutputMismatch(worst.verification.error_message);
    }
  }

  // Execution failed, although a backend and inputs existed.
  bool failed_to_execute() const {
    return result_.failure && result_.failure->stage == Stage::kExecute &&
           result_.failure->kind == FailureKind::kExecuteFailed && runs_.back().is_ready;
  }

  Run& worst_run() {
    if (failed_to_execute()) return runs_.back();
    return runs_.at(static_cast<size_t>(result_.worst_trial() - result_.trials.data()));
  }

  Result keep_figures() {
    result_.own_error = worst_own_error(result_);
    result_.metrics = difference_metrics(result_);
    result_.trials.clear();
    result_.sizes.clear();
    return std::move(result_);
  }

  // Drawn in workers, so that several graphs are drawn at once.
  void draw() const {
    Result drawn = result_;
    if (fs::exists(directory_ + kGraphFile)) drawn.graph = load_ir(directory_ + kGraphFile);
    const GraphPicture picture = draw_graph(drawn, candidate_->source_lines());
    if (picture.svg.empty()) return;
    write_output([&] {
      write_file(directory_ + "/" + kDataFile, picture.data);
      write_file(directory_ + "/" + kPictureFile, picture.svg);
    });
  }

  const RunRequest& request_;
  const std::string& directory_;
  RunSettings settings_;
  const TellNews& tell_;
  std::shared_ptr<Backend>& backend_;
  const std::unique_ptr<Candidate> candidate_;
  const bool is_call_;
  const std::unique_ptr<FloatModel> floating_;
  Result result_;
  IR ir_;
  std::shared_ptr<const Program> program_;
  std::vector<Run> runs_;
  std::vector<Mutation> carried_;
  // How the first step of each trial begins, without inputs.
  Case first_;
  std::shared_ptr<const Program> program_of_steps_;
};

}  // namespace

DoRequest run_task(const WorkJson& setup) {
  RunSettings of_all;
  json_fields::read(setup, of_all);
  return [of_all, backend = std::shared_ptr<Backend>()](const WorkJson& content,
                                                        const TellNews& tell) mutable -> WorkJson {
    RunRequest request;
    json_fields::read(content, request);
    RunSettings settings = of_all;
    if (request.agreed) request.agreed->apply(settings);
    if (!request.reproduces) {
      return json_fields::write(Pipeline(request, settings, backend, tell).run());
    }
    const auto on_whole = [&](const ReproducerSearch& whole) { tell(json_fields::write(whole)); };
    return json_fields::write(reproduce_end(*make_candidate(request.source, settings), settings,
                                            *request.reproduces, request.directory, on_whole));
  };
}

}  // namespace torch_ir
