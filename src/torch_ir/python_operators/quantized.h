// Quantised dtypes.
#pragma once

#include <c10/core/ScalarType.h>

namespace torch_ir {

// The least and the greatest value of a quantised dtype.
struct QuantizedRange {
  double low = 0;
  double high = 0;
};

// Throws c10::Error for a dtype that is not a quantised one.
QuantizedRange quantized_range(c10::ScalarType dtype);

}  // namespace torch_ir
