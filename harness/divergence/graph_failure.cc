#include <ATen/Context.h>
#include <fmt/format.h>

#include <exception>
#include <utility>

#include "harness/backend/command_backend.h"
#include "harness/divergence/reproducer.h"
#include "harness/stages/stages.h"
#include "torch_ir/verifier/compare.h"
#include "torch_ir/verifier/second_opinion.h"
#include "torch_ir/verifier/tolerance.h"
#include "torch_ir/verifier/verdict.h"
#include "torch_ir/verifier/verify.h"
#include "torch_ir/base/text.h"

namespace torch_ir {
namespace {

std::optional<GraphFailure> find_failure(Backend& backend, const IR& ir, const StateDict& weights,
                                         const std::vector<at::Tensor>& inputs,
                                         const std::vector<at::Tensor>& expected,
                                         const RunSettings& settings) {
  const std::vector<TensorMeta>& outputs = ir.graph_outputs;
  const auto is_known = [&](size_t i) { return i < expected.size() && expected[i].defined(); };
  const auto tolerance_of = [&](size_t i) {
    const auto dtype = is_known(i) ? expected[i].scalar_type() : c10::ScalarType::Float;
    return tolerance_for(settings.tolerance, i, dtype);
  };
  const auto failure_of_all = [&](std::string message, bool threw) {
    return GraphFailure{.output = outputs.empty() ? "" : outputs.back().name,
                        .tolerance = tolerance_of(outputs.empty() ? 0 : outputs.size() - 1),
                        .message = std::move(message),
                        .threw = threw};
  };
  std::vector<at::Tensor> actual;
  at::manual_seed(settings.seed);
  try {
    actual = backend.run(ir, weights, inputs);
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
    return failure_of_all(fmt::format("{}, expected {}", counted(std::ssize(actual), "output"),
                                      outputs.size()),
                          /*threw=*/false);
  }
  std::vector<SecondOpinion> opinions;
  const Criterion& criterion = settings.criterion;
  if (criterion.reference != ReferenceKind::kModel) {
    opinions = second_opinions(ir, weights, inputs, actual, expected);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!is_known(i)) continue;
    const Tolerance tolerance = tolerance_of(i);
    const TensorComparison comparison = compare_tensors(actual[i], expected[i], tolerance);
    const SecondOpinion* opinion = opinions.empty() ? nullptr : &opinions[i];
    const ValueVerdict verdict = judge(comparison, opinion, criterion);
    if (verdict.problem.empty()) continue;
    return GraphFailure{.output = outputs[i].name,
                        .tolerance = tolerance,
                        .message = fmt::format("'{}': {}", outputs[i].name, verdict.problem)};
  }
  if (criterion.reference != ReferenceKind::kAuto) return std::nullopt;
  VerificationReport report = compare_known_outputs(ir, actual, expected, settings.tolerance);
  if (report.is_valid) return std::nullopt;
  // Only float64 accepts the outputs, so check that the graph matches the model.
  report.criterion = criterion;
  report.is_valid = true;
  at::manual_seed(settings.seed);
  check_graph(report, ir, weights, inputs, eager_outputs(ir, weights, inputs), expected,
              criterion.reference);
  if (report.is_valid) return std::nullopt;
  return failure_of_all(report.error_message, /*threw=*/false);
}

}  // namespace

GraphCheck check_on(Backend& backend) {
  return [&backend](const IR& ir, const StateDict& weights, const std::vector<at::Tensor>& inputs,
                    const std::vector<at::Tensor>& expected, const RunSettings& settings) {
    return find_failure(backend, ir, weights, inputs, expected, settings);
  };
}

}  // namespace torch_ir
