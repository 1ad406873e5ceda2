#include "harness/results/result.h"

#include <c10/util/hash.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/resolve.h"

namespace torch_ir {
namespace {

template <class Worse>
void keep(std::optional<double>& worst, const std::optional<double>& figure,
          const Worse& is_worse) {
  if (!figure) return;
  if (!worst || std::isnan(*figure) || is_worse(*figure, *worst)) worst = figure;
}

void forget_modules(IRGraph& graph) {
  for (OpNode& node : graph.nodes) {
    node.module.clear();
    std::ranges::for_each(node.graphs, forget_modules);
  }
}

}  // namespace

std::string_view stage_name(Stage stage) {
  constexpr std::array<std::string_view, kStages.size()> kNames = {"extract", "serialize",
                                                                   "execute", "verify"};
  return kNames.at(static_cast<size_t>(stage));
}

bool runs_plans(const RunSettings& settings) {
  return settings.backend.empty() && settings.executor.empty();
}

Criterion criterion_of(const RunSettings& settings) {
  Criterion criterion = settings.criterion;
  if (runs_plans(settings)) criterion.arithmetic.reset();
  return criterion;
}

std::string expectation_text(const ExpectedFailure& expected) {
  return fmt::format("{}: {}", failure_kind_name(expected.kind), expected.reason);
}

std::string_view status_name(Status status) {
  constexpr std::array<std::string_view, kStatuses.size()> kNames = {
      "passed",           "not held",        "extracted",  "failed",
      "expected failure", "unexpected pass", "unsupported"};
  return kNames.at(static_cast<size_t>(status));
}

Status Result::status() const {
  if (unsupported) return Status::kUnsupported;
  if (passed() && expected_failure) return Status::kUnexpectedPass;
  if (passed()) {
    return arithmetic() && arithmetic()->first_lost ? Status::kNotHeld : Status::kPassed;
  }
  if (is_extracted()) return Status::kExtracted;
  const bool is_expected = expected_failure && failure && failure->kind == expected_failure->kind;
  return is_expected ? Status::kExpectedFailure : Status::kFailed;
}

Stage Result::stage() const {
  if (is_extracted()) return Stage::kSerialize;
  return failure ? failure->stage : kStages.at(std::min(num_passed_stages, kStages.size() - 1));
}

// Without an executor, whether the dtype can hold the model was the question.
bool Result::is_good() const {
  if (status() == Status::kNotHeld) return arithmetic()->has_executor;
  return status() != Status::kFailed && status() != Status::kUnexpectedPass;
}

std::string Result::reason() const {
  if (unsupported) return *unsupported;
  if (status() == Status::kNotHeld) {
    return lost_text([](const std::string& value) { return printable(value); });
  }
  return failure ? headline(failure->message) : std::string();
}

std::string Result::lost_text(const std::function<std::string(const std::string&)>& code) const {
  if (!arithmetic() || !arithmetic()->first_lost) return {};
  return torch_ir::lost_text(arithmetic()->arithmetic, *arithmetic()->first_lost, code);
}

const ArithmeticReport* Result::arithmetic() const {
  if (trials.empty() || !trials.front().verification.arithmetic) return nullptr;
  return &*trials.front().verification.arithmetic;
}

std::string Result::state_not_compared() const {
  return trials.empty() ? "" : not_compared_text(trials.front().verification);
}

std::string Result::nothing_compared() const {
  const auto has_outputs = [](const Trial& it) { return !it.verification.output_details.empty(); };
  if (call || !passed() || std::ranges::any_of(trials, has_outputs)) return {};
  const bool has_graph_outputs =
      graph ? !graph->graph_outputs.empty() : summary && !summary->figures.outputs.empty();
  return has_graph_outputs ? "the expected outputs are unknown" : "the graph has no outputs";
}

std::string values_file(const std::string& model) {
  return "tensors/" + model + ".values.safetensors";
}

std::string_view outcome_name(const Result& result) {
  const Status status = result.status();
  if (status != Status::kFailed || !result.failure) return status_name(status);
  switch (result.failure->kind) {
    case FailureKind::kOutputMismatch:
      return "differs";
    case FailureKind::kUnsupported:
    case FailureKind::kCrashed:
    case FailureKind::kTimedOut:
    case FailureKind::kOutOfMemory:
      return failure_kind_name(result.failure->kind);
    default:
      return "failed";
  }
}

std::string category_of(const Result& result) {
  return result.categories.empty() ? "models" : result.categories.front();
}

std::string host_text(const Result& result, const std::string& before) {
  if (!result.passed() || !result.executor) return "";
  const size_t num_on_host = result.executor->on_host().size();
  if (num_on_host == 0) return "";
  return fmt::format("{}{} of {} on the host", before, num_on_host,
                     counted(result.executor->num_nodes, "node"));
}

int64_t count_status(const std::vector<Result>& results, Status status) {
  return std::ranges::count(results, status, &Result::status);
}

bool all_good(const std::vector<Result>& results) {
  return std::ranges::all_of(results, &Result::is_good);
}

std::optional<GraphSummary> Result::graph_summary() const {
  if (graph) {
    return GraphSummary{summarize(*graph), cost().totals, graph_fingerprint(*graph)};
  }
  return summary;
}

GraphCost Result::cost() const {
  SymbolValues values;
  for (const auto& [symbol, size] : sizes) values.emplace(symbol, size);
  return cost_of(at_sizes(program(), values));
}

Program Result::program() const { return resolve(*graph, GraphChecks::kStructure); }

void Result::drop_graph() {
  summary = graph_summary();
  graph.reset();
}

bool Result::is_reproduced_by_whole_graph() const {
  const std::optional<GraphSummary> known = graph_summary();
  return reproducer && known && reproducer->num_nodes == known->figures.num_nodes;
}

std::tuple<bool, bool, double> badness(const VerificationReport& report) {
  return {!report.is_valid, report.output_details.empty(), report.smallest_passing_tolerance()};
}

const Trial* Result::worst_trial() const {
  const auto worst = std::ranges::max_element(
      trials, {}, [](const Trial& trial) { return badness(trial.verification); });
  return worst == trials.end() ? nullptr : &*worst;
}

std::string graph_fingerprint(const IR& graph) {
  IR same = graph;
  same.pytorch_version.clear();
  forget_modules(same);
  same.constants = StateDict();
  return c10::sha1(serialize_ir(same)).str();
}

std::optional<OwnError> worst_own_error(const Result& result) {
  std::optional<OwnError> worst = result.own_error;
  for (const Trial& trial : result.trials) {
    for (const ValueDetail& detail : trial.verification.output_details) {
      const std::optional<OwnError>& error = detail.own_error;
      if (error && (!worst || error->rms_ratio > worst->rms_ratio)) worst = error;
    }
  }
  return worst;
}

DifferenceMetrics difference_metrics(const VerificationReport& report) {
  DifferenceMetrics figures;
  if (report.output_details.empty()) return figures;
  figures.smallest_passing_tolerance = report.smallest_passing_tolerance();
  for (const ValueDetail& detail : report.output_details) {
    const TensorComparison& comparison = detail.comparison;
    if (!comparison.mismatch.empty()) continue;
    figures.max_diff = report.max_diff;
    keep(figures.signal_to_noise, comparison.signal_to_noise, std::less());
    keep(figures.cosine_similarity, comparison.cosine_similarity, std::less());
  }
  return figures;
}

void keep_worst(DifferenceMetrics& worst, const DifferenceMetrics& other) {
  keep(worst.max_diff, other.max_diff, std::greater());
  keep(worst.signal_to_noise, other.signal_to_noise, std::less());
  keep(worst.cosine_similarity, other.cosine_similarity, std::less());
  keep(worst.smallest_passing_tolerance, other.smallest_passing_tolerance, std::greater());
}

DifferenceMetrics difference_metrics(const Result& result) {
  DifferenceMetrics all = result.metrics;
  bool is_complete = true;
  for (const Trial& trial : result.trials) {
    const DifferenceMetrics figures = difference_metrics(trial.verification);
    keep_worst(all, figures);
    if (!figures.smallest_passing_tolerance) is_complete = false;
  }
  if (all.smallest_passing_tolerance && !is_complete) {
    all.smallest_passing_tolerance = std::numeric_limits<double>::infinity();
  }
  return all;
}

}  // namespace torch_ir
