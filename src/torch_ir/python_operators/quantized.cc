#include "torch_ir/python_operators/quantized.h"

#include <c10/util/Exception.h>

namespace torch_ir {

QuantizedRange quantized_range(at::ScalarType dtype) {
  using at::ScalarType;
  const auto number = static_cast<int>(dtype);
  const auto integer = [](int bits, bool is_signed) {
    const auto half = static_cast<double>(int64_t{1} << (bits - 1));
    return is_signed ? QuantizedRange{-half, half - 1} : QuantizedRange{0, 2 * half - 1};
  };
  if (ScalarType::UInt1 <= dtype && dtype <= ScalarType::UInt7) {
    return integer(number - static_cast<int>(ScalarType::UInt1) + 1, /*is_signed=*/false);
  }
  if (ScalarType::Int1 <= dtype && dtype <= ScalarType::Int7) {
    return integer(number - static_cast<int>(ScalarType::Int1) + 1, /*is_signed=*/true);
  }
  if (dtype == ScalarType::Float8_e4m3fn) return {-448, 448};
  if (dtype == ScalarType::Float8_e4m3fnuz) return {-240, 240};
  if (c10::isFloat8Type(dtype)) return {-57344, 57344};
  TORCH_CHECK(c10::isIntegralType(dtype, /*includeBool=*/false) && c10::elementSize(dtype) <= 4,
              "Unsupported quantized dtype: ", dtype);
  const bool is_signed = c10::isSignedType(dtype);
  return integer(static_cast<int>(8 * c10::elementSize(dtype)), is_signed);
}

}  // namespace torch_ir
