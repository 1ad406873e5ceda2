#include "harness/results/result.h"

#include <algorithm>
#include <tuple>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {

std::string_view stage_name(Stage stage) {
  switch (stage) {
    case Stage::kExtract:
      return "extract";
    case Stage::kSerialize:
      return "serialize";
    case Stage::kExecute:
      return "execute";
    case Stage::kVerify:
      return "verify";
  }
  __builtin_unreachable();
}

Stage parse_stage(std::string_view name) {
  const auto stage = std::ranges::find(kStages, name, stage_name);
  if (stage == kStages.end()) throw Error("'" + std::string(name) + "' is no stage");
  return *stage;
}

std::string failure_line(const Failure& failure) {
  const std::string_view kind = failure_kind_name(failure.kind);
  const std::string_view stage = stage_name(failure.stage);
  std::string line(kind);
  // Most kinds are named after the stage where they come about.
  if (!kind.starts_with(stage)) line.append(" in ").append(stage);
  return line + ": " + headline(failure.message);
}

std::string_view status_name(Status status) {
  switch (status) {
    case Status::kPassed:
      return "passed";
    case Status::kFailed:
      return "failed";
    case Status::kExpectedFailure:
      return "expected failure";
    case Status::kUnexpectedPass:
      return "unexpected pass";
  }
  __builtin_unreachable();
}

Status ModelResult::status() const {
  if (passed()) return expected_failure ? Status::kUnexpectedPass : Status::kPassed;
  const bool is_expected = expected_failure && failure && failure->kind == expected_failure->kind;
  return is_expected ? Status::kExpectedFailure : Status::kFailed;
}

bool ModelResult::is_good() const {
  return status() == Status::kPassed || status() == Status::kExpectedFailure;
}

std::optional<GraphSummary> ModelResult::graph_summary() const {
  if (graph) return summarize_graph(*graph);
  return summary;
}

void ModelResult::drop_graph() {
  summary = graph_summary();
  graph.reset();
}

bool ModelResult::is_reproduced_by_whole_graph() const {
  const std::optional<GraphSummary> known = graph_summary();
  return reproducer && known && reproducer->num_nodes == known->figures.num_nodes;
}

const Trial* ModelResult::worst_trial() const {
  // Those that fail first, of these the one that has no outputs, then by how much the tolerance
  // would have to be.
  const auto badness = [](const Trial& trial) {
    const VerificationReport& report = trial.verification;
    return std::tuple(!report.is_valid, report.output_details.empty(),
                      report.smallest_passing_tolerance());
  };
  const auto worst = std::ranges::max_element(trials, {}, badness);
  return worst == trials.end() ? nullptr : &*worst;
}

}  // namespace torch_ir
