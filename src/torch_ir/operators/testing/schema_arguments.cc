#include "torch_ir/operators/testing/schema_arguments.h"

#include <ATen/core/List.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {
namespace {

using c10::IValue;
using c10::TypeKind;

bool has(const std::string& name, std::string_view part) {
  return name.find(part) != std::string::npos;
}

// One element a channel.
at::Tensor channel_values(const at::Tensor& example) {
  return at::ones({example.dim() > 1 ? example.size(1) : 1}, example.options());
}

at::Tensor make_tensor(const std::string& name, const at::Tensor& example) {
  if (name == "index") return at::zeros({2}, at::kLong);
  if (has(name, "ind") || has(name, "target")) return at::zeros(example.sizes(), at::kLong);
  if (has(name, "mask") || name == "condition") return at::ones(example.sizes(), at::kBool);
  return example;
}

IValue make_integers(const c10::Argument& argument, const at::Tensor& example) {
  if (has(argument.name(), "size") && !argument.N()) return example.sizes().vec();
  if (has(argument.name(), "dim")) return std::vector<int64_t>{0};
  return std::vector<int64_t>(argument.N().value_or(2), 1);
}

std::optional<IValue> make_list(const c10::Argument& argument, const c10::Type& element,
                                const at::Tensor& example) {
  switch (element.kind()) {
    case TypeKind::TensorType:
      return IValue(c10::List<at::Tensor>({example, example}));
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return make_integers(argument, example);
    case TypeKind::BoolType: {
      c10::List<bool> flags;
      flags.resize(argument.N().value_or(2), true);
      return IValue(flags);
    }
    case TypeKind::OptionalType:
      return IValue(c10::List<std::optional<at::Tensor>>({at::zeros({2}, at::kLong)}));
    default:
      return std::nullopt;
  }
}

std::optional<IValue> make_optional(const c10::Argument& argument, const at::Tensor& example) {
  const bool is_tensor = c10::TensorType::get()->isSubtypeOf(*argument.type());
  const bool is_of_channels =
      argument.name() == "weight" || argument.name() == "bias" || has(argument.name(), "running");
  if (is_tensor && is_of_channels) return channel_values(example);
  return IValue();
}

std::optional<IValue> make_argument(const c10::Argument& argument, const at::Tensor& example) {
  if (argument.default_value()) return *argument.default_value();
  switch (argument.type()->kind()) {
    case TypeKind::TensorType:
      return make_tensor(argument.name(), example);
    case TypeKind::OptionalType:
      return make_optional(argument, example);
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return IValue(has(argument.name(), "dim") ? 0 : 1);
    case TypeKind::FloatType:
      return IValue(0.5);
    case TypeKind::BoolType:
      return IValue(true);
    case TypeKind::NumberType:
      return IValue(c10::Scalar(1.0));
    case TypeKind::StringType:
      return IValue("mean");
    case TypeKind::ListType:
      return make_list(argument, *argument.type()->castRaw<c10::ListType>()->getElementType(),
                       example);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<torch::jit::Stack> make_arguments(const c10::FunctionSchema& schema,
                                                const at::Tensor& example) {
  torch::jit::Stack arguments;
  for (const c10::Argument& argument : schema.arguments()) {
    std::optional<IValue> value = make_argument(argument, example);
    if (!value) return std::nullopt;
    arguments.push_back(std::move(*value));
  }
  return arguments;
}

}  // namespace torch_ir
