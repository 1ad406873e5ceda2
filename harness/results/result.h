// Results of the harness: plain data, made by the process that ran a model, read by the reports.
//
// Nothing in here depends on time, host or paths: the same run gives the same results.
#pragma once

#include <c10/core/Device.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/analysis/cost.h"
#include "torch_ir/analysis/summary.h"
#include "torch_ir/cases/graph_case.h"
#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/registry/failure_kind.h"
#include "torch_ir/registry/registry.h"
#include "torch_ir/verifier/compare_nodes.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {

// The stages of the pipeline, in order.
enum class Stage { kExtract, kSerialize, kExecute, kVerify };

inline constexpr std::array kStages = {Stage::kExtract, Stage::kSerialize, Stage::kExecute,
                                       Stage::kVerify};

// "extract", "serialize", "execute", "verify".
std::string_view stage_name(Stage stage);

// The inverse. Throws Error for another name.
Stage parse_stage(std::string_view name);

// What decides whether an output is right: the outputs of the model and a tolerance, or a run of
// the graph in float64 and how much farther from it than the model's the output may be.
enum class ReferenceKind { kModel, kFloat64 };

inline constexpr std::array kReferenceKinds = {ReferenceKind::kModel, ReferenceKind::kFloat64};

// "model", "float64".
std::string_view reference_name(ReferenceKind reference);

// The inverse. Throws Error for another name.
ReferenceKind parse_reference(std::string_view name);

// What a run was asked for, as far as it can change a result.
struct RunSettings {
  uint64_t seed = 0;
  ToleranceRule tolerance = {.fixed = {.rtol = 1e-4, .atol = 1e-4}};
  // Whether `tolerance` goes before what models have registered.
  bool tolerance_wins = false;
  ReferenceKind reference = ReferenceKind::kModel;
  // The greatest factor of a second opinion that passes, where float64 is the reference.
  double error_factor = kDefaultErrorFactor;
  // How many times each model runs, each time on other inputs, see trials.h.
  int trials = 3;
  int threads = 1;
  // How the graph runs, where it runs on an execution plan; the reference always runs eagerly, on
  // the CPU.
  Optimization optimization = Optimization::kExact;
  c10::Device device = c10::Device(c10::kCPU);
  // Who runs the graph in place of an execution plan, see backend.h.
  std::string backend = {};
  std::string executor = {};
  bool executor_intermediates = false;
  // Which models of the registry. Those of full scale have no weights to run with.
  Scale scale = Scale::kTest;
  // Stages after this one are left out.
  Stage last_stage = Stage::kVerify;
  // Compare node by node also where all outputs agree.
  bool per_node = false;
  bool save_tensors = false;
};

// Whether `settings` leave the graphs to the execution plans of this library.
bool runs_plans(const RunSettings& settings);

// What verdicts by float64 go by; nothing where the model is the reference.
std::optional<double> error_factor(const RunSettings& settings);

struct Failure {
  FailureKind kind = FailureKind::kExtractFailed;
  Stage stage = Stage::kExtract;
  std::string message = {};
  // The last lines that the model's process printed, when it ended without saying why.
  std::string output = {};
};

// "crashed in execute: ...", "execute failed: ...", with the first line of the message.
std::string failure_line(const Failure& failure);

// Where an imported model and its tensors come from. Names of files, without their folders.
struct Origin {
  // One of the two. A graph that is the ir.json of a folder goes by the folder.
  std::string archive = {};
  std::string graph = {};
  // Empty where the archive's example inputs were used.
  std::string inputs = {};
  // Empty where its own operators said what is expected.
  std::string expected = {};
};

// What reports of a whole run say of a model's graph: small whatever the size of the graph, so that
// a run of many models need not keep their graphs.
struct GraphSummary {
  IRSummary figures = {};
  CostTotals costs = {};
  // See graph_fingerprint.
  std::string fingerprint = {};
};

// A text that two graphs have in common only when they are the same: names, operators, attributes,
// shapes. Neither the version of PyTorch nor the values of constants count.
std::string graph_fingerprint(const IR& graph);

// One run on inputs of some kind.
struct Trial {
  // "normal values", "zeros and ones", "large magnitudes", "normal values 2", ...
  std::string name = {};
  VerificationReport verification = {};
};

// The smallest part of the graph known to fail when it is given what the model computes before it;
// the whole graph where no part does. It lies in repro/<model>/ of the reports: ir.json,
// weights.safetensors where it has weights, inputs.safetensors, and expected.safetensors unless its
// process ended.
struct Reproducer {
  // The trial on whose inputs it fails.
  std::string trial = {};
  int64_t num_nodes = 0;
  // The first and the last node in it.
  std::string first_node = {};
  std::string last_node = {};
  // What to type in that folder.
  std::string command = {};
  // What it shows, as the failure that it is: one line.
  std::string message = {};
};

enum class Status {
  kPassed,
  // Extracted and serialized, which is all that was asked for: nothing was run.
  kExtracted,
  kFailed,
  // Failed, as registered.
  kExpectedFailure,
  // Registered as failing, and passed.
  kUnexpectedPass,
  // The backend says that it does not take the call. No failure by itself.
  kUnsupported,
};

inline constexpr std::array kStatuses = {Status::kPassed,         Status::kExtracted,
                                         Status::kFailed,         Status::kExpectedFailure,
                                         Status::kUnexpectedPass, Status::kUnsupported};

// "passed", "extracted", "failed", "expected failure", "unexpected pass", "unsupported".
std::string_view status_name(Status status);

// The inverse. Throws Error for another name.
Status parse_status(std::string_view name);

// A size that differs from run to run, as it was in a run.
struct SymbolSize {
  std::string symbol = {};
  int64_t value = 0;
};

// How far a graph is from what is expected, by which reports and runs are compared: of the outputs
// of one or several trials. Nothing where none could be compared, or a portable file does not say.
struct DifferenceMetrics {
  std::optional<double> max_diff = std::nullopt;
  // Infinite where none would pass.
  std::optional<double> smallest_passing_tolerance = std::nullopt;
};

// A single call: of the operator suite, of a model taken apart, of a suite in files.
struct CallInfo {
  std::string op_type = {};
  std::string dtype = {};
  // In models, in their order; none for a case of the tables.
  std::vector<CaseOccurrence> occurrences = {};
};

// What became of a candidate: of a model, or of a single call, which is one of thousands and keeps
// no graph and no trials.
struct Result {
  std::string name = {};
  std::string description = {};
  std::vector<std::string> categories = {};
  // Of a model in files; nothing for a model of the registry.
  std::optional<Origin> origin = std::nullopt;
  std::optional<CallInfo> call = std::nullopt;
  std::optional<ExpectedFailure> expected_failure = std::nullopt;
  // How many of kStages passed.
  size_t num_passed_stages = 0;
  // Why it failed in the stage after those.
  std::optional<Failure> failure = std::nullopt;
  // What the backend says of a call that it does not take, one line.
  std::optional<std::string> unsupported = std::nullopt;
  // The graph, without the values of constants; from the stage extract on, until drop_graph.
  std::optional<IR> graph = std::nullopt;
  // Of a graph that was dropped.
  std::optional<GraphSummary> summary = std::nullopt;
  // The sizes of the first trial, by symbol: those that the graph's costs are told at.
  std::vector<SymbolSize> sizes = {};
  // Why there is no picture of the graph, one line; empty where there is one.
  std::string picture_problem = {};
  // From the stage verify on, in the order in which they ran; where one could not be executed, that
  // one and those before it.
  std::vector<Trial> trials = {};
  // Of a call, in place of trials: the worst of its runs, and of its outputs. No opinion where
  // single elements are not what is compared.
  DifferenceMetrics metrics = {};
  std::optional<SecondOpinion> second_opinion = std::nullopt;
  // The trial that was executed or verified last, or that failed.
  int current_trial = 0;
  // Of the worst trial, where the outputs do not agree or the settings ask for it.
  std::optional<NodeReport> nodes = std::nullopt;
  std::optional<Reproducer> reproducer = std::nullopt;
  // Wall-clock seconds of each stage that was begun. Differs from run to run: for those who ask.
  std::vector<double> stage_seconds = {};

  // All stages passed.
  bool passed() const { return !failure && !unsupported && num_passed_stages == kStages.size(); }
  // It has a graph that was written, and was not run.
  bool is_extracted() const {
    return !failure && !unsupported && num_passed_stages == static_cast<size_t>(Stage::kExecute);
  }
  Status status() const;
  // The one that failed, or the last one.
  Stage stage() const;
  // Whether it counts as good: passed as far as it was to go, failed as expected, or unsupported.
  bool is_good() const;
  // Why it did not pass, one line; empty where it did.
  std::string reason() const;
  // Lets go of the graph, all but its summary: a run of many models keeps none.
  void drop_graph();
  // Nothing where there was no graph.
  std::optional<GraphSummary> graph_summary() const;
  // Of a result that has a graph, at these sizes.
  GraphCost cost() const;
  // Whether there is a reproducer, and it is all of the graph.
  bool is_reproduced_by_whole_graph() const;
  // The trial that is furthest outside its tolerance, or nearest to it; null when there is none.
  const Trial* worst_trial() const;
};

// What reports call the outcome of a call: "passed", "differs", "unsupported", "crashed", ...
std::string_view outcome_name(const Result& result);

// The first of its categories; that of models in general where it has none.
std::string category_of(const Result& result);

// How many of them have `status`.
int64_t count_status(const std::vector<Result>& results, Status status);

// Whether every one is good; with `requires_support` also supported.
bool all_good(const std::vector<Result>& results, bool requires_support = false);

// How many times farther from float64 than eager the worst output of all trials is; nothing where
// float64 says nothing of one of them.
std::optional<double> worst_factor(const Result& result);

// Where the process of a model leaves the picture of its graph, in the folder of its files.
inline constexpr const char* kPictureFile = "graph.svg";

struct GraphPicture {
  // The document; empty where there is none.
  std::string svg = {};
  // Why there is none, one line; empty also for a model without a graph.
  std::string problem = {};
};

// The first node that differs stands out. Never throws: a run does not depend on its pictures.
GraphPicture draw_graph(const Result& result);

// Of one trial.
DifferenceMetrics difference_metrics(const VerificationReport& report);

// The greatest of all trials, which need not be both of the same one; NaN is greater than all else.
// No tolerance lets a trial pass that could not be compared.
DifferenceMetrics difference_metrics(const Result& result);

}  // namespace torch_ir
