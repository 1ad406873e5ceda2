#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "harness/backend/command_backend.h"
#include "harness/backend/open_backend.h"
#include "harness/divergence/reproducer.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/text.h"
#include "torch_ir/base/tolerance.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/verifier/judge_run.h"

namespace torch_ir {
namespace {

std::optional<GraphFailure> find_failure(Backend& backend, Case graph_case,
                                         const RunSettings& settings) {
  const Program& program = *graph_case.program;
  const std::vector<ValueId>& outputs = program.outputs;
  std::vector<at::Tensor>& expected = graph_case.expected;
  expected.resize(outputs.size());
  const auto failure_of_all = [&](std::string message, bool threw) {
    GraphFailure failure{.message = std::move(message), .threw = threw};
    if (outputs.empty()) return failure;
    const at::Tensor& last = expected.back();
    failure.output = program[outputs.back()].name;
    failure.tolerance = tolerance_for(settings.tolerance, outputs.size() - 1,
                                      last.defined() ? last.scalar_type() : c10::kFloat);
    return failure;
  };
  std::vector<at::Tensor> actual;
  try {
    at::manual_seed(settings.seed);
    actual = run_on(backend, graph_case);
  } catch (const OutputError&) {
    throw;
  } catch (const CommandFailure& error) {
    GraphFailure failure = failure_of_all(message_text(error), /*threw=*/true);
    failure.command_end = error.end().description;
    return failure;
  } catch (const std::exception& error) {
    return failure_of_all(message_text(error), /*threw=*/true);
  }
  if (actual.size() != outputs.size()) {
    return failure_of_all(
        fmt::format("{}, expected {}", counted(std::ssize(actual), "output"), outputs.size()),
        /*threw=*/false);
  }
  const VerificationReport report =
      judge_run(run_to_judge(backend, graph_case, actual, settings.seed), settings.tolerance,
                criterion_of(settings));
  if (report.is_valid) return std::nullopt;
  const auto wrong = std::ranges::find_if(
      report.output_details, [](const ValueDetail& detail) { return !detail.problem.empty(); });
  if (wrong == report.output_details.end()) {
    return failure_of_all(report.error_message, /*threw=*/false);
  }
  return GraphFailure{.output = wrong->value,
                      .tolerance = wrong->tolerance,
                      .message = fmt::format("'{}': {}", wrong->value, wrong->problem),
                      .actual = std::move(actual)};
}

}  // namespace

GraphRun run_to_judge(Backend& backend, const Case& graph_case,
                      const std::vector<at::Tensor>& outputs, uint64_t seed) {
  return {.graph_case = graph_case,
          .outputs = outputs,
          .rerun =
              [&backend, seed](const Case& other) {
                at::manual_seed(seed);
                return run_on(backend, other);
              },
          .run_eagerly =
              [&graph_case, seed] {
                at::manual_seed(seed);
                return eager_outputs(graph_case);
              },
          .describe =
              [](const std::exception& error) {
                if (dynamic_cast<const OutputError*>(&error) != nullptr) throw;
                return message_text(error);
              }};
}

GraphCheck check_on(Backend& backend) {
  return [&backend](const Case& graph_case, const RunSettings& settings) {
    return find_failure(backend, graph_case, settings);
  };
}

}  // namespace torch_ir
