// The arguments of a call by their names in the schema, whatever the overload.
#pragma once

#include <ATen/ScalarOps.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <string>
#include <vector>

namespace torch_ir {

class NamedArguments {
 public:
  // `stack` has all arguments of `schema`. Both outlive this.
  NamedArguments(const c10::FunctionSchema& schema, c10::ArrayRef<c10::IValue> stack)
      : schema_(schema), stack_(stack) {}

  const c10::FunctionSchema& schema() const { return schema_; }
  c10::ArrayRef<c10::IValue> arguments() const { return stack_; }

  // False for None and for undefined tensors.
  bool has(const char* name) const {
    const auto index = schema_.argumentIndexWithName(name);
    if (!index) return false;
    const c10::IValue& value = stack_.at(static_cast<size_t>(*index));
    return !value.isNone() && (!value.isTensor() || value.toTensor().defined());
  }

  // Throw c10::Error if the argument is missing or has another type. A number counts as a tensor.
  at::Tensor tensor(const char* name) const {
    const c10::IValue& value = at(name);
    return value.isScalar() ? c10::scalar_to_tensor(value.toScalar()) : value.toTensor();
  }
  int64_t number(const char* name) const { return at(name).toInt(); }
  double real(const char* name) const { return at(name).toDouble(); }
  std::string text(const char* name) const { return at(name).toStringRef(); }
  bool flag(const char* name) const { return at(name).toBool(); }
  std::vector<int64_t> numbers(const char* name) const {
    const c10::IValue& value = at(name);
    if (!value.isTensor()) return value.toIntVector();
    const at::Tensor values = value.toTensor().to(at::kLong).contiguous();
    const auto* const data = values.const_data_ptr<int64_t>();
    return {data, data + values.numel()};
  }
  std::vector<at::Tensor> tensors(const char* name) const { return at(name).toTensorVector(); }

 protected:
  const c10::IValue& at(const char* name) const {
    TORCH_CHECK(has(name), "there is no ", name);
    return stack_.at(static_cast<size_t>(*schema_.argumentIndexWithName(name)));
  }

 private:
  const c10::FunctionSchema& schema_;
  c10::ArrayRef<c10::IValue> stack_;
};

}  // namespace torch_ir
