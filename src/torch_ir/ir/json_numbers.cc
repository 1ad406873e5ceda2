#include "torch_ir/ir/json_numbers.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e4m3fnuz.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Float8_e5m2fnuz.h>
#include <c10/util/Half.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/dtype.h"

#if __has_include(<c10/util/Float8_e8m0fnu.h>)
#include <c10/util/Float8_e8m0fnu.h>
#define TORCH_IR_HAS_FLOAT8_E8M0FNU 1
#endif

namespace torch_ir {
namespace {

// "d.ddde+XX" as to_chars writes it, taken apart.
struct Scientific {
  bool is_negative;
  std::string digits;  // Without the point.
  int exponent;        // Of the first digit.
};

Scientific take_apart(std::string_view text) {
  Scientific number = {text.front() == '-', "", 0};
  const size_t e = text.find('e');
  for (const char c : text.substr(0, e)) {
    if (c >= '0' && c <= '9') number.digits += c;
  }
  while (number.digits.size() > 1 && number.digits.back() == '0') number.digits.pop_back();
  number.exponent = std::atoi(text.data() + e + 1);
  return number;
}

// Python's choice: exponents from -4 to 15 are written out.
std::string as_python(const Scientific& number) {
  const auto& [is_negative, digits, exponent] = number;
  const int length = static_cast<int>(digits.size());
  std::string text = is_negative ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    text += digits.front();
    if (length > 1) text += '.' + digits.substr(1);
    const std::string magnitude = std::to_string(std::abs(exponent));
    return text + (exponent < 0 ? "e-" : "e+") + (magnitude.size() < 2 ? "0" : "") + magnitude;
  }
  if (exponent < 0) return text + "0." + std::string(-exponent - 1, '0') + digits;
  if (length <= exponent + 1) return text + digits + std::string(exponent + 1 - length, '0') + ".0";
  return text + digits.substr(0, exponent + 1) + '.' + digits.substr(exponent + 1);
}

constexpr size_t kBufferSize = 64;

// The shortest text that reads back as `value`.
std::string shortest(double value) {
  char buffer[kBufferSize] = {};
  std::to_chars(buffer, buffer + kBufferSize - 1, value, std::chars_format::scientific);
  return as_python(take_apart(buffer));
}

std::string with_digits(double value, int num_digits) {
  char buffer[kBufferSize] = {};
  std::to_chars(buffer, buffer + kBufferSize - 1, value, std::chars_format::scientific,
                num_digits - 1);
  return as_python(take_apart(buffer));
}

double parse(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

template <class T>
double rounded_to(double value) {
  return static_cast<double>(static_cast<float>(static_cast<T>(static_cast<float>(value))));
}

// What storing a double as an element of a dtype makes of it, and how many digits surely suffice.
struct FloatType {
  c10::ScalarType dtype;
  double (*round)(double);
  int max_digits;
};
constexpr FloatType kFloatTypes[] = {
    {c10::ScalarType::Float, rounded_to<float>, 9},
    {c10::ScalarType::Half, rounded_to<c10::Half>, 5},
    {c10::ScalarType::BFloat16, rounded_to<c10::BFloat16>, 4},
    {c10::ScalarType::Float8_e5m2, rounded_to<c10::Float8_e5m2>, 3},
    {c10::ScalarType::Float8_e5m2fnuz, rounded_to<c10::Float8_e5m2fnuz>, 3},
    {c10::ScalarType::Float8_e4m3fn, rounded_to<c10::Float8_e4m3fn>, 3},
    {c10::ScalarType::Float8_e4m3fnuz, rounded_to<c10::Float8_e4m3fnuz>, 3},
#ifdef TORCH_IR_HAS_FLOAT8_E8M0FNU
    {c10::ScalarType::Float8_e8m0fnu, rounded_to<c10::Float8_e8m0fnu>, 2},
#endif
};

const FloatType& float_type(c10::ScalarType dtype) {
  for (const FloatType& type : kFloatTypes) {
    if (type.dtype == dtype) return type;
  }
  throw SerializationError("elements of dtype " + dtype_name(dtype) + " are no floats");
}

// Text with few digits goes through double on its way back, which can round twice: so each
// candidate is tried, and the exact value has the last word.
std::string shortest(double value, const FloatType& type) {
  if (type.dtype == c10::ScalarType::Float) {
    char buffer[kBufferSize] = {};
    std::to_chars(buffer, buffer + kBufferSize - 1, static_cast<float>(value),
                  std::chars_format::scientific);
    std::string text = as_python(take_apart(buffer));
    return type.round(parse(text)) == value ? text : shortest(value);
  }
  for (int num_digits = 1; num_digits <= type.max_digits; ++num_digits) {
    std::string text = with_digits(value, num_digits);
    if (type.round(parse(text)) == value) return text;
  }
  return shortest(value);
}

}  // namespace

std::string python_float(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return shortest(value);
}

std::string python_float(double value, c10::ScalarType dtype) {
  if (dtype == c10::ScalarType::Double || !std::isfinite(value)) return python_float(value);
  return shortest(value, float_type(dtype));
}

}  // namespace torch_ir
