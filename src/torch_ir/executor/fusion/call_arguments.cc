#include "torch_ir/executor/fusion/call_arguments.h"

namespace torch_ir {

const TraceArgument* CallArguments::find(std::string_view name) const {
  const auto& arguments = call_.op.schema().arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name() == name) return &call_.arguments[i];
  }
  return nullptr;
}

std::optional<TensorId> CallArguments::tensor(std::string_view name) const {
  const TraceArgument* argument = find(name);
  if (argument == nullptr) return std::nullopt;
  const auto* id = std::get_if<TensorId>(argument);
  return id == nullptr ? std::nullopt : std::optional(*id);
}

std::vector<TensorId> CallArguments::tensors(std::string_view name) const {
  const TraceArgument* argument = find(name);
  return argument == nullptr ? std::vector<TensorId>() : tensors_of(*argument);
}

c10::IValue CallArguments::value(std::string_view name) const {
  const TraceArgument* argument = find(name);
  const auto* value = argument == nullptr ? nullptr : std::get_if<c10::IValue>(argument);
  return value == nullptr ? c10::IValue() : *value;
}

std::vector<int64_t> CallArguments::integers(std::string_view name, size_t count,
                                             int64_t missing) const {
  const c10::IValue found = value(name);
  if (found.isInt()) return std::vector<int64_t>(count, found.toInt());
  if (!found.isIntList()) return std::vector<int64_t>(count, missing);
  std::vector<int64_t> numbers = found.toIntVector();
  if (numbers.empty()) return std::vector<int64_t>(count, missing);
  if (numbers.size() == 1) numbers.resize(count, numbers[0]);
  return numbers;
}

double CallArguments::number(std::string_view name, double missing) const {
  const c10::IValue found = value(name);
  return found.isScalar() ? found.toScalar().toDouble() : missing;
}

}  // namespace torch_ir
