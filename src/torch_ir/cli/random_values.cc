#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"
#include "torch_ir/cli/execution.h"
#include "torch_ir/weights/graph_names.h"
#include "torch_ir/weights/seeded_tensor.h"

namespace torch_ir {
namespace {

constexpr uint64_t kSeed = 0;
constexpr const char* kInputAdvice = "give inputs with --inputs FILE.safetensors";
constexpr const char* kWeightAdvice = "give weights with --weights FILE";

// Throws if `values` exceed the memory of a small machine.
void check_size(const std::string& path, const Program& program, const std::vector<ValueId>& values,
                const char* advice) {
  // Doubles cannot overflow here. A size of 0 counts as 1.
  double sum = 0;
  for (const ValueId value : values) {
    double elements = 1;
    for (const int64_t size : program[value].shape) {
      elements *= static_cast<double>(std::max<int64_t>(size, 1));
    }
    sum += elements;
  }
  if (sum <= static_cast<double>(kMaxRandomElements)) return;
  throw Error(fmt::format("{}: cannot generate more than {} values for '{}'; {}", path,
                          with_thousands_separators(kMaxRandomElements),
                          printable(program.model_name), advice));
}

at::Tensor random_tensor(const Program& program, const Value& value, const std::string& name,
                         const ValueRange& range) {
  const bool is_number = at::isIntegralType(value.dtype, /*includeBool=*/false);
  if (is_number) return at::zeros(value.shape, value.dtype);
  return seeded_tensor(kSeed, program.model_name, name, value.shape, value.dtype, range);
}

ValueRange weight_range(const Value& placeholder, const std::string& name) {
  const bool is_buffer = placeholder.name.starts_with("b_");
  const std::optional<ValueRange> range = is_buffer ? buffer_range(name) : std::nullopt;
  return range ? *range : parameter_range(name, placeholder.shape);
}

}  // namespace

std::vector<at::Tensor> random_inputs(const std::string& path, const Program& program) {
  const std::vector<ValueId> ids = program.user_inputs();
  for (const ValueId id : ids) {
    const Value& input = program[id];
    if (input.is_scalar) {
      throw Error(fmt::format("{}: cannot generate the number '{}'; {}", path,
                              printable(input.name), kInputAdvice));
    }
    if (is_dynamic(input)) {
      throw Error(fmt::format("{}: cannot generate input '{}' of dynamic shape {}; {}", path,
                              printable(input.name), printable(shape_text(input)), kInputAdvice));
    }
  }
  check_size(path, program, ids, kInputAdvice);
  std::vector<at::Tensor> inputs;
  for (const ValueId id : ids) {
    inputs.push_back(random_tensor(program, program[id], "input/" + program[id].name, {-1, 1}));
  }
  return inputs;
}

StateDict random_weights(const std::string& path, const Case& graph_case) {
  const Program& program = *graph_case.program;
  // By name.
  torch::OrderedDict<std::string, ValueId> unknown;
  for (const GraphInput& input : program.inputs) {
    if (input.kind == InputKind::kUserInput || find_weight(graph_case, input) != nullptr) continue;
    const auto is_other_name = [&](const auto& names) {
      return std::ranges::find(names, input.target) != names.end() &&
             std::ranges::any_of(names, [&](const auto& name) { return unknown.contains(name); });
    };
    if (unknown.contains(input.target)) continue;
    if (std::ranges::none_of(program.tied_weights, is_other_name)) {
      unknown.insert(input.target, input.value);
    }
  }
  check_size(path, program, unknown.values(), kWeightAdvice);
  StateDict weights;
  for (const auto& item : unknown) {
    const Value& placeholder = program[item.value()];
    weights.insert(item.key(), random_tensor(program, placeholder, "weight/" + item.key(),
                                             weight_range(placeholder, item.key())));
  }
  return with_tied_names(weights, program.tied_weights);
}

}  // namespace torch_ir
