// Helpers that the definitions of all namespaces share.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>
#include <ATen/ops/_assert_async.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/library.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "torch_ir/python_operators/quantized.h"

namespace torch_ir {

using TensorPair = std::tuple<at::Tensor, at::Tensor>;

// Throws c10::Error if the bounds are outside the range of the dtype.
inline void check_bounds(const at::Scalar& quant_min, const at::Scalar& quant_max,
                         at::ScalarType dtype) {
  const QuantizedRange range = quantized_range(dtype);
  TORCH_CHECK(range.low <= quant_min.toDouble() && quant_max.toDouble() <= range.high,
              "quant_min and quant_max are ", quant_min, " and ", quant_max, ", but ", dtype,
              " holds values from ", range.low, " to ", range.high);
}

// Throws c10::Error when `condition`, a tensor of one boolean, is false. Does nothing on the
// meta device.
inline void check_value(const at::Tensor& condition, const char* message) {
  if (!condition.is_meta()) at::_assert_async(condition, message);
}

// 1 / tensor, as Python computes it.
inline at::Tensor inverse(const at::Tensor& tensor) { return tensor.reciprocal().mul(1.0); }

// The definitions of one namespace.
class Definitions {
 public:
  // Lives as long as the process: the dispatcher refers to it.
  explicit Definitions(std::string name)
      : name_(std::move(name)),
        library_(torch::Library::FRAGMENT, name_, std::nullopt, __FILE__, __LINE__) {}

  // Defines an operator by its calls of ATen, unless the dispatcher knows it.
  template <class Function>
  void add(const std::string& schema, Function&& function, const std::vector<at::Tag>& tags = {}) {
    c10::FunctionSchema parsed = torch::jit::parseSchema(name_ + "::" + schema);
    if (c10::Dispatcher::singleton().findSchema(parsed.operator_name())) return;
    library_.def(std::move(parsed), std::forward<Function>(function), tags);
  }

 private:
  std::string name_;
  torch::Library library_;
};

void define_quantized_decomposed(Definitions& definitions);
void define_torchao(Definitions& definitions);
void define_prims(Definitions& definitions);

}  // namespace torch_ir
