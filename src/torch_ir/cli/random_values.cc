#include "torch_ir/cli/random_values.h"

#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "torch_ir/analysis/summary.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/weights/seeded_tensor.h"

namespace torch_ir {
namespace {

constexpr uint64_t kSeed = 0;
constexpr const char* kInputAdvice = "give inputs with --inputs FILE.safetensors";
constexpr const char* kWeightAdvice = "give weights with --weights FILE";

// Makes tensors until there are too many.
class Maker {
 public:
  Maker(const std::string& path, const IR& ir, const char* advice)
      : path_(path), ir_(ir), advice_(advice) {}

  at::Tensor make(const TensorMeta& meta, const std::string& name, const ValueRange& range) {
    for (const int64_t size : meta.shape) {
      if (size > kMaxRandomElements) fail();
    }
    num_elements_ += count(meta.shape);
    if (num_elements_ > kMaxRandomElements) fail();
    const c10::ScalarType dtype = parse_dtype(meta.dtype);
    const bool is_number = at::isIntegralType(dtype, /*includeBool=*/false);
    if (is_number) return at::zeros(meta.shape, dtype);
    return seeded_tensor(kSeed, ir_.model_name, name, meta.shape, dtype, range);
  }

 private:
  // At most one more than there may be, so that nothing overflows.
  static int64_t count(const std::vector<int64_t>& shape) {
    int64_t elements = 1;
    for (const int64_t size : shape) elements = std::min(elements * size, kMaxRandomElements + 1);
    return elements;
  }

  [[noreturn]] void fail() const {
    throw Error(fmt::format("{}: '{}' has more than {} values to make up: {}", path_,
                            printable(ir_.model_name),
                            with_thousands_separators(kMaxRandomElements), advice_));
  }

  const std::string& path_;
  const IR& ir_;
  const char* advice_;
  int64_t num_elements_ = 0;
};

ValueRange weight_range(std::string_view placeholder, const TensorMeta& weight) {
  const bool is_buffer = placeholder.starts_with("b_");
  if (is_buffer) {
    if (const auto range = buffer_range(weight.name)) return *range;
  }
  return parameter_range(weight.name, weight.shape);
}

}  // namespace

std::vector<at::Tensor> random_inputs(const std::string& path, const IR& ir) {
  Maker maker(path, ir, kInputAdvice);
  std::vector<at::Tensor> inputs;
  for (const TensorMeta& input : ir.graph_inputs) {
    if (input.is_scalar) {
      throw Error(fmt::format("{}: the input '{}' is a number that only you know: {}", path,
                              printable(input.name), kInputAdvice));
    }
    if (is_dynamic(input)) {
      throw Error(fmt::format("{}: the input '{}' has sizes that differ from run to run, {}: {}",
                              path, printable(input.name), printable(shape_text(input)),
                              kInputAdvice));
    }
    inputs.push_back(maker.make(input, "input/" + input.name, {-1, 1}));
  }
  return inputs;
}

StateDict random_weights(const std::string& path, const IR& ir, const StateDict& constants) {
  std::unordered_map<std::string, std::string> placeholders;
  for (const auto& item : ir.weight_name_mapping) placeholders.emplace(item.value(), item.key());
  Maker maker(path, ir, kWeightAdvice);
  StateDict weights;
  for (const TensorMeta& weight : ir.weights) {
    const std::string& placeholder = placeholders[weight.name];
    const bool is_known = ir.constants.contains(weight.name) || constants.contains(weight.name) ||
                          constants.contains(placeholder) || weights.contains(weight.name);
    if (is_known) continue;
    const ValueRange range = weight_range(placeholder, weight);
    weights.insert(weight.name, maker.make(weight, "weight/" + weight.name, range));
  }
  return weights;
}

}  // namespace torch_ir
