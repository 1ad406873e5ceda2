#include "torch_ir/ir/json_writer.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e4m3fnuz.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Float8_e5m2fnuz.h>
#include <c10/util/Half.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"

#if __has_include(<c10/util/Float8_e8m0fnu.h>)
#include <c10/util/Float8_e8m0fnu.h>
#define TORCH_IR_HAS_FLOAT8_E8M0FNU 1
#endif

namespace torch_ir {
namespace {

bool is_plain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

std::string escaped(std::string_view value) {
  try {
    return nlohmann::json(value).dump(-1, ' ', /*ensure_ascii=*/true);
  } catch (const nlohmann::json::type_error&) {
    throw SerializationError("a name or a text is not valid UTF-8: '" + printable(value) + "'");
  }
}

double number_in(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

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

}  // namespace

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  quoted(name);
  text_ += ": ";
  after_key_ = true;
  return *this;
}

void JsonWriter::floating(double value) { raw(python_float(value)); }

void JsonWriter::string(std::string_view value) {
  separate();
  quoted(value);
}

void JsonWriter::raw(std::string_view json) {
  separate();
  text_ += json;
}

void JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  has_values_.push_back(false);
}

void JsonWriter::close(char bracket) {
  const bool has_values = has_values_.back();
  has_values_.pop_back();
  if (has_values) new_line();
  text_ += bracket;
}

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_values_.empty()) return;
  if (has_values_.back()) text_ += ',';
  has_values_.back() = true;
  new_line();
}

void JsonWriter::new_line() {
  text_ += '\n';
  text_.append(2 * has_values_.size(), ' ');
}

void JsonWriter::quoted(std::string_view value) {
  if (std::ranges::all_of(value, is_plain)) {
    text_ += '"';
    text_ += value;
    text_ += '"';
  } else {
    text_ += escaped(value);
  }
}

std::string python_float(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

// Text with few digits goes through double on its way back, which can round twice: so each
// candidate is tried, and the exact value has the last word.
std::string python_float(double value, c10::ScalarType dtype) {
  if (dtype == c10::ScalarType::Double || !std::isfinite(value)) return python_float(value);
  const FloatType& type = float_type(dtype);
  if (dtype == c10::ScalarType::Float) {
    const double candidate = number_in(fmt::format("{}", static_cast<float>(value)));
    return python_float(type.round(candidate) == value ? candidate : value);
  }
  for (int num_digits = 1; num_digits <= type.max_digits; ++num_digits) {
    const double candidate = number_in(fmt::format("{:.{}e}", value, num_digits - 1));
    if (type.round(candidate) == value) return python_float(candidate);
  }
  return python_float(value);
}

}  // namespace torch_ir
