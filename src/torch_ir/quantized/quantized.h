// The operators of quantised models that PyTorch and torchao define in Python only.
//
// Archives of PT2E have `quantized_decomposed.*`, those of torchao `torchao.*`. They are defined
// here with the schemas and the arithmetic of Python's definitions, call by call of ATen, so that
// their results have the same bits: torch/ao/quantization/fx/_decomposed.py of PyTorch 2.13 and
// torchao/quantization/quant_primitives.py of torchao 0.18. They take float64 too, which Python
// refuses: a graph that is compared with its run in float64 has it.
#pragma once

#include <c10/core/ScalarType.h>

#include <string_view>

namespace torch_ir {

// Whether `name`, such as "quantized_decomposed::quantize_per_tensor", is in one of the namespaces.
bool is_quantized_operator(std::string_view name);

// Registers them with LibTorch's dispatcher, except those that it already has, as in a Python
// process that has imported torchao. Called at each lookup of such an operator; does its work once.
void define_quantized_operators();

// The least and the greatest value of a quantised dtype.
struct QuantizedRange {
  double low = 0;
  double high = 0;
};

// Throws c10::Error for a dtype that is not a quantised one.
QuantizedRange quantized_range(c10::ScalarType dtype);

}  // namespace torch_ir
