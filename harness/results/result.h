// Result: the outcome of a model or a single call as plain data, made in a worker and read by the
// reports. Results do not depend on time, host or paths, so the same run gives the same results.
#pragma once

#include <c10/core/Device.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/results/executor_report.h"
#include "harness/results/float_comparison.h"
#include "harness/results/model_files.h"
#include "torch_ir/analysis/cost.h"
#include "torch_ir/analysis/summary.h"
#include "torch_ir/base/failure_kind.h"
#include "torch_ir/cases/suite_case.h"
#include "torch_ir/ir/field_list.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/program.h"
#include "torch_ir/registry/registry.h"
#include "torch_ir/runtime/graph/execution_options.h"
#include "torch_ir/verifier/compare_nodes.h"
#include "torch_ir/verifier/value_detail.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {

enum class Stage { kExtract, kSerialize, kExecute, kVerify };

inline constexpr std::array kStages = {Stage::kExtract, Stage::kSerialize, Stage::kExecute,
                                       Stage::kVerify};

// "extract", "serialize", "execute", "verify".
std::string_view stage_name(Stage stage);

struct RunSettings {
  uint64_t seed = 0;
  // `fixed` applies if --rtol or --atol is given.
  ToleranceRule tolerance = {.fixed = {.rtol = 1e-4, .atol = 1e-4}, .by_dtype = true};
  // Whether `tolerance` overrides the tolerances that models have registered.
  bool tolerance_wins = false;
  Criterion criterion = {.reference = ReferenceKind::kAuto};
  // Runs per model, each on different inputs (trials.h).
  int trials = 3;
  // Runs of each graph on equal inputs; the worst is judged.
  int repeat = 1;
  // Runs per trial, one after the other on one state, and the outputs that each hands to an input
  // of the next, "OUT=IN".
  int steps = 1;
  std::vector<std::string> carry = {};
  int threads = 1;
  // For execution plans. The reference always runs eagerly on the CPU.
  Optimization optimization = Optimization::kExact;
  c10::Device device = c10::Device(c10::kCPU);
  // These replace the execution plan (backend.h).
  std::string backend = {};
  std::string executor = {};
  // Whether `executor` is a server rather than a command that runs once for each graph.
  bool executor_is_server = false;
  bool executor_intermediates = false;
  // Full-scale models have no weights, so they cannot run.
  Scale scale = Scale::kTest;
  Stage last_stage = Stage::kVerify;
  // Of the search for a reproducer; 0 for none.
  double search_seconds = 60;
  // Compare node by node even if all outputs agree.
  bool per_node = false;
  bool save_tensors = false;
  // Whether a graph that the backend does not support fails.
  bool requires_support = false;
  // Keep the values of nodes, to compare runs by.
  bool save_values = false;
};

bool runs_plans(const RunSettings& settings);

// How its run is judged: plans compute in the arithmetic of the graph.
Criterion criterion_of(const RunSettings& settings);

struct Failure {
  FailureKind kind = FailureKind::kExtractFailed;
  Stage stage = Stage::kExtract;
  std::string message = {};
  // The last lines that the model's process printed, if it ended without an error message.
  std::string output = {};
};

TORCH_IR_FIELDS(Failure, kind, stage, message, output)

// "output mismatch: rounds twice", as a list of expected failures has it.
std::string expectation_text(const ExpectedFailure& expected);

// A summary of a graph, so that a run of many models need not keep the graphs.
struct GraphSummary {
  IRSummary figures = {};
  CostTotals costs = {};
  std::string fingerprint = {};
};

// The figures of a graph in reports, by their names there.
inline constexpr std::array kGraphFigures = {std::pair("nodes", &IRSummary::num_nodes),
                                             std::pair("edges", &IRSummary::num_edges),
                                             std::pair("weights", &IRSummary::num_weights),
                                             std::pair("parameters", &IRSummary::total_parameters)};

// Returns a hash of names, operators, attributes and shapes. Ignores the version of PyTorch, the
// paths of modules, and the values of constants.
std::string graph_fingerprint(const IR& graph);

struct Trial {
  // "normal values", "zeros and ones", "large magnitudes", "normal values 2", ...
  std::string name = {};
  VerificationReport verification = {};
};

// The smallest known part of the graph that fails on its inputs in the model, or else the whole
// graph. repro/<model>/ of the reports has ir.json, weights.safetensors if there are weights,
// inputs.safetensors, and expected.safetensors unless its process ended.
struct Reproducer {
  // The trial whose inputs it fails on.
  std::string trial = {};
  int64_t num_nodes = 0;
  std::string first_node = {};
  std::string last_node = {};
  // To be run in that folder.
  std::string command = {};
  // One line.
  std::string message = {};
};

TORCH_IR_FIELDS(Reproducer, trial, num_nodes, first_node, last_node, command, message)

enum class Status {
  kPassed,
  // The compute dtype cannot hold the model; the executor, if any, is right up to there.
  kNotHeld,
  // Extracted and serialized; the run was asked for no more.
  kExtracted,
  kFailed,
  // Failed, as registered.
  kExpectedFailure,
  // Registered as failing, but passed.
  kUnexpectedPass,
  // The backend does not support the call, which is not a failure by itself.
  kUnsupported,
};

inline constexpr std::array kStatuses = {
    Status::kPassed,          Status::kNotHeld,        Status::kExtracted,  Status::kFailed,
    Status::kExpectedFailure, Status::kUnexpectedPass, Status::kUnsupported};

// "passed", "not held", "extracted", "failed", "expected failure", "unexpected
// pass", "unsupported".
std::string_view status_name(Status status);

// The greatest errors of outputs over one or several trials, to compare runs by. Empty if nothing
// could be compared.
struct DifferenceMetrics {
  std::optional<double> max_diff = std::nullopt;
  // Infinite if no tolerance passes.
  std::optional<double> smallest_passing_tolerance = std::nullopt;
  // The least ones.
  std::optional<double> signal_to_noise = std::nullopt;
  std::optional<double> cosine_similarity = std::nullopt;
};

struct CallInfo {
  std::string op_type = {};
  std::string dtype = {};
  // Where models make this call, in order; empty for a case of the tables.
  std::vector<CaseOccurrence> occurrences = {};
};

TORCH_IR_FIELDS(CallInfo, op_type, dtype, occurrences)
TORCH_IR_FIELDS(ExecutorNode, op_type, place, metrics)
TORCH_IR_FIELDS(ExecutorReport, num_nodes, nodes)

// There are many calls, so they keep no graph and no trials.
struct Result {
  std::string name = {};
  std::string description = {};
  std::vector<std::string> categories = {};
  // Of an imported model.
  std::optional<ModelFiles> origin = std::nullopt;
  std::optional<CallInfo> call = std::nullopt;
  std::optional<ExpectedFailure> expected_failure = std::nullopt;
  size_t num_passed_stages = 0;
  std::optional<Failure> failure = std::nullopt;
  // The backend's reason for not supporting the call, one line.
  std::optional<std::string> unsupported = std::nullopt;
  // Without the values of constants; set from extract until drop_graph.
  std::optional<IR> graph = std::nullopt;
  // Set by drop_graph.
  std::optional<GraphSummary> summary = std::nullopt;
  // The sizes of the first trial, by symbol, for which costs are computed.
  std::vector<std::pair<std::string, int64_t>> sizes = {};
  // One line; empty if there is a picture.
  std::string picture_problem = {};
  // Set from the stage verify on, in order; if a trial could not run, ends with that one.
  std::vector<Trial> trials = {};
  // "zeros and ones: the model raises ..." for each trial that was not run.
  std::vector<std::string> not_tried = {};
  // For a call, in place of trials: the worst of its runs and outputs.
  DifferenceMetrics metrics = {};
  std::optional<OwnError> own_error = std::nullopt;
  // "2 of 5 runs, first at softmax_3", if results differ from run to run on equal inputs.
  std::string varies = {};
  // The trial whose values RunSettings::save_values kept: the one that failed, or else the first.
  std::string kept_trial = {};
  // The weakest rule by which an output passed in any trial; kNone if it did not pass.
  Basis passed_by = Basis::kNone;
  // Whether it is judged, and only the search for a reproducer goes on. Between processes only.
  bool is_searching = false;
  // The last trial that ran or was verified.
  int current_trial = 0;
  // Empty for the first.
  std::string current_trial_name = {};
  // For the worst trial, if outputs disagree or the settings ask for it.
  std::optional<NodeReport> nodes = std::nullopt;
  std::optional<Reproducer> reproducer = std::nullopt;
  // The executor's report on the trial with most nodes on the host.
  std::optional<ExecutorReport> executor = std::nullopt;
  // Whether the reports have the values of nodes.
  bool has_values = false;
  // Set if the run was given the float model.
  std::optional<FloatComparison> against = std::nullopt;

  bool passed() const { return !failure && !unsupported && num_passed_stages == kStages.size(); }
  bool is_extracted() const {
    return !failure && !unsupported && num_passed_stages == static_cast<size_t>(Stage::kExecute);
  }
  Status status() const;
  // Whether the backend does not support it, which may count as a failure.
  bool lacks_support() const {
    return unsupported || (failure && failure->kind == FailureKind::kUnsupported);
  }
  // The stage that failed, or the last one.
  Stage stage() const;
  // Whether it passed all requested stages, failed as expected, or is unsupported.
  bool is_good() const;
  // One line; empty if it passed.
  std::string reason() const;
  // "float16 cannot hold this model: ..."; empty if it can, or was not asked. `code` formats names.
  std::string lost_text(const std::function<std::string(const std::string&)>& code) const;
  // That of the first trial; null if there is none. Further trials may have larger values than the
  // model is made for.
  const ArithmeticReport* arithmetic() const;
  // "state not compared: 'b_k'", as in the first trial; empty if all state was.
  std::string state_not_compared() const;
  // The reason why its outputs passed although none was compared; otherwise empty.
  std::string nothing_compared() const;
  void drop_graph();
  std::optional<GraphSummary> graph_summary() const;
  // Require a graph; `cost` uses `sizes`.
  Program program() const;
  GraphCost cost() const;
  bool is_reproduced_by_whole_graph() const;
  // The trial furthest outside its tolerance, or closest to it; null without trials.
  const Trial* worst_trial() const;
};

// With RunSettings::save_values; relative to the folder of the reports.
std::string values_file(const std::string& model);

// "passed", "differs", "unsupported", "crashed", ...
std::string_view outcome_name(const Result& result);

// The first category, or the one of uncategorized models.
std::string category_of(const Result& result);

// "1 of 3 nodes on the host" after `before`, for a result that passed with nodes on the host;
// otherwise empty.
std::string host_text(const Result& result, const std::string& before = "");

int64_t count_status(const std::vector<Result>& results, Status status);

bool all_good(const std::vector<Result>& results);

// The greatest own error of the outputs that were judged by it; nothing if none was.
std::optional<OwnError> worst_own_error(const Result& result);

DifferenceMetrics difference_metrics(const VerificationReport& report);

// The worse of both figures: the greater error, the lesser SNR and cosine similarity.
void keep_worst(DifferenceMetrics& worst, const DifferenceMetrics& other);

// Failing ones are worst, above all those without outputs. The others are ordered by the tolerance
// they would need.
std::tuple<bool, bool, double> badness(const VerificationReport& report);

// Returns the maxima over all trials, with NaN greater than anything else. The tolerance is
// infinite if a trial could not be compared.
DifferenceMetrics difference_metrics(const Result& result);

}  // namespace torch_ir
