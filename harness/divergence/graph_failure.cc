#include <ATen/Context.h>
#include <fmt/format.h>

#include <exception>
#include <sstream>
#include <utility>

#include "harness/backend/command_backend.h"
#include "harness/divergence/reproducer.h"
#include "harness/stages/stages.h"
#include "torch_ir/verifier/compare.h"
#include "torch_ir/verifier/second_opinion.h"
#include "torch_ir/verifier/tolerance.h"

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
    return failure_of_all(fmt::format("{} output(s), expected {}", actual.size(), outputs.size()),
                          /*threw=*/false);
  }
  std::vector<SecondOpinion> opinions;
  const std::optional<double> most = error_factor(settings);
  if (most) opinions = second_opinions(ir, weights, inputs, actual, expected);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!is_known(i)) continue;
    const Tolerance tolerance = tolerance_of(i);
    const TensorComparison comparison = compare_tensors(actual[i], expected[i], tolerance);
    std::ostringstream message;
    if (most && comparison.mismatch.empty()) {
      message << opinion_problem(opinions[i], *most);
    } else if (!comparison.is_close) {
      message << comparison;
    }
    if (message.str().empty()) continue;
    return GraphFailure{.output = outputs[i].name,
                        .tolerance = tolerance,
                        .message = fmt::format("'{}': {}", outputs[i].name, message.str())};
  }
  return std::nullopt;
}

}  // namespace

GraphCheck check_on(Backend& backend) {
  return [&backend](const IR& ir, const StateDict& weights, const std::vector<at::Tensor>& inputs,
                    const std::vector<at::Tensor>& expected, const RunSettings& settings) {
    return find_failure(backend, ir, weights, inputs, expected, settings);
  };
}

}  // namespace torch_ir
