#include "harness/divergence/graph_failure.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <exception>
#include <sstream>

#include "harness/stages/stages.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/verifier/compare.h"

namespace torch_ir {

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
    return GraphFailure{.output = outputs.empty() ? "" : outputs.front().name,
                        .tolerance = tolerance_of(0),
                        .message = std::move(message),
                        .threw = threw};
  };
  std::vector<at::Tensor> actual;
  at::manual_seed(settings.seed);
  try {
    actual = backend.run(ir, weights, inputs);
  } catch (const OutputError&) {
    throw;
  } catch (const std::exception& error) {
    return failure_of_all(message_text(error), /*threw=*/true);
  }
  if (actual.size() != outputs.size()) {
    return failure_of_all(fmt::format("{} output(s), expected {}", actual.size(), outputs.size()),
                          /*threw=*/false);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!is_known(i)) continue;
    const Tolerance tolerance = tolerance_of(i);
    const TensorComparison comparison = compare_tensors(actual[i], expected[i], tolerance);
    if (comparison.is_close) continue;
    std::ostringstream message;
    message << "'" << outputs[i].name << "': " << comparison;
    return GraphFailure{
        .output = outputs[i].name, .tolerance = tolerance, .message = message.str()};
  }
  return std::nullopt;
}

StateDict used_weights(const IR& ir, const StateDict& weights) {
  StateDict used;
  for (const auto& item : ir.weight_name_mapping) {
    if (used.contains(item.value())) continue;
    const at::Tensor* weight = weights.find(item.value());
    if (weight == nullptr) weight = weights.find(item.key());
    if (weight != nullptr) used.insert(item.value(), *weight);
  }
  return used;
}

}  // namespace torch_ir
