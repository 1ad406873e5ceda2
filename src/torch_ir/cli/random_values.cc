#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"
#include "torch_ir/cli/execution.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/weights/graph_names.h"
#include "torch_ir/weights/seeded_tensor.h"

namespace torch_ir {
namespace {

constexpr uint64_t kSeed = 0;
constexpr const char* kInputAdvice = "give inputs with --inputs FILE.safetensors";
constexpr const char* kWeightAdvice = "give weights with --weights FILE";

// Throws if the values of `metas` exceed the memory of a small machine.
void check_size(const std::string& path, const IR& ir, const std::vector<TensorMeta>& metas,
                const char* advice) {
  // Doubles cannot overflow here. A size of 0 counts as 1.
  double sum = 0;
  for (const TensorMeta& meta : metas) {
    double elements = 1;
    for (const int64_t size : meta.shape)
      elements *= static_cast<double>(std::max<int64_t>(size, 1));
    sum += elements;
  }
  if (sum <= static_cast<double>(kMaxRandomElements)) return;
  throw Error(fmt::format("{}: cannot generate more than {} values for '{}'; {}", path,
                          with_thousands_separators(kMaxRandomElements), printable(ir.model_name),
                          advice));
}

at::Tensor random_tensor(const IR& ir, const TensorMeta& meta, const std::string& kind,
                         const ValueRange& range) {
  const c10::ScalarType dtype = parse_dtype(meta.dtype);
  const bool is_number = at::isIntegralType(dtype, /*includeBool=*/false);
  if (is_number) return at::zeros(meta.shape, dtype);
  return seeded_tensor(kSeed, ir.model_name, kind + meta.name, meta.shape, dtype, range);
}

ValueRange weight_range(std::string_view placeholder, const TensorMeta& weight) {
  const bool is_buffer = placeholder.starts_with("b_");
  if (is_buffer) {
    if (const auto range = buffer_range(weight.name)) return *range;
  }
  return parameter_range(weight.name, weight.shape);
}

}  // namespace

std::vector<at::Tensor> random_inputs(const std::string& path, const IR& ir) {
  for (const TensorMeta& input : ir.graph_inputs) {
    if (input.is_scalar) {
      throw Error(fmt::format("{}: cannot generate the number '{}'; {}", path,
                              printable(input.name), kInputAdvice));
    }
    if (is_dynamic(input)) {
      throw Error(fmt::format("{}: cannot generate input '{}' of dynamic shape {}; {}", path,
                              printable(input.name), printable(shape_text(input)), kInputAdvice));
    }
  }
  check_size(path, ir, ir.graph_inputs, kInputAdvice);
  std::vector<at::Tensor> inputs;
  for (const TensorMeta& input : ir.graph_inputs) {
    inputs.push_back(random_tensor(ir, input, "input/", {-1, 1}));
  }
  return inputs;
}

StateDict random_weights(const std::string& path, const IR& ir, const StateDict& constants) {
  std::unordered_map<std::string, std::string> placeholders;
  for (const auto& item : ir.weight_name_mapping) placeholders.emplace(item.value(), item.key());
  std::vector<TensorMeta> unknown;
  for (const TensorMeta& weight : ir.weights) {
    const bool is_known = ir.constants.contains(weight.name) || constants.contains(weight.name) ||
                          constants.contains(placeholders[weight.name]);
    if (!is_known) unknown.push_back(weight);
  }
  check_size(path, ir, unknown, kWeightAdvice);
  StateDict weights;
  for (const TensorMeta& weight : unknown) {
    if (weights.contains(weight.name)) continue;
    const auto is_other_name = [&](const auto& names) {
      return std::ranges::find(names, weight.name) != names.end() &&
             std::ranges::any_of(names, [&](const auto& name) { return weights.contains(name); });
    };
    if (std::ranges::any_of(ir.tied_weights, is_other_name)) continue;
    const ValueRange range = weight_range(placeholders[weight.name], weight);
    weights.insert(weight.name, random_tensor(ir, weight, "weight/", range));
  }
  return with_tied_names(weights, ir.tied_weights);
}

}  // namespace torch_ir
