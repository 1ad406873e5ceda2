// Quantised dtypes, and the operators of quantised models.
#pragma once

#include <c10/core/ScalarType.h>

#include <string_view>

namespace torch_ir {

// Whether `name`, such as "quantized_decomposed::quantize_per_tensor", is in one of the namespaces.
bool is_quantized_operator(std::string_view name);

// The least and the greatest value of a quantised dtype.
struct QuantizedRange {
  double low = 0;
  double high = 0;
};

// Throws c10::Error for a dtype that is not a quantised one.
QuantizedRange quantized_range(c10::ScalarType dtype);

}  // namespace torch_ir
