#include "torch_ir/operators/number_functions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <unordered_map>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using c10::IValue;

bool is_float(const IValue& value) { return value.isDouble(); }

int64_t as_int(const IValue& value) {
  if (value.isBool()) return value.toBool() ? 1 : 0;
  if (value.isInt()) return value.toInt();
  throw ExecutionError("expected an integer, found " + value.tagKind());
}

double as_double(const IValue& value) {
  return is_float(value) ? value.toDouble() : static_cast<double>(as_int(value));
}

bool as_bool(const IValue& value) {
  return is_float(value) ? value.toDouble() != 0 : as_int(value) != 0;
}

[[noreturn]] void fail_overflow() { throw ExecutionError("the result needs more than 64 bits"); }
[[noreturn]] void fail_zero() { throw ExecutionError("division by zero"); }

template <class Ints, class Floats>
IValue arithmetic(const IValue& a, const IValue& b, Ints ints, Floats floats) {
  if (is_float(a) || is_float(b)) return IValue(floats(as_double(a), as_double(b)));
  return IValue(ints(as_int(a), as_int(b)));
}

template <class Function>
IValue of_numbers(const IValue& a, const IValue& b) {
  return arithmetic(a, b, Function(), Function());
}

// A sum, a difference or a product, which 128 bits always hold.
template <class Function>
IValue checked(const IValue& a, const IValue& b) {
  const auto ints = [](__int128 x, __int128 y) {
    const __int128 result = Function()(x, y);
    if (result != static_cast<int64_t>(result)) fail_overflow();
    return static_cast<int64_t>(result);
  };
  return arithmetic(a, b, ints, Function());
}

IValue negative(const IValue& value) { return checked<std::minus<>>(IValue(int64_t{0}), value); }

int64_t floor_divide(int64_t x, int64_t y) {
  if (y == 0) fail_zero();
  if (y == -1) return as_int(negative(x));
  return x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0);
}

IValue floordiv(const IValue& a, const IValue& b) {
  return arithmetic(a, b, floor_divide, [](double x, double y) {
    if (y == 0) fail_zero();
    return std::floor(x / y);
  });
}

// The result has the sign of the divisor.
IValue mod(const IValue& a, const IValue& b) {
  return arithmetic(
      a, b, [](int64_t x, int64_t y) { return y == -1 ? 0 : x - floor_divide(x, y) * y; },
      [](double x, double y) {
        if (y == 0) fail_zero();
        const double remainder = std::fmod(x, y);
        return remainder != 0 && (remainder < 0) != (y < 0) ? remainder + y : remainder;
      });
}

IValue truediv(const IValue& a, const IValue& b) {
  if (as_double(b) == 0) fail_zero();
  return as_double(a) / as_double(b);
}

int64_t integer_power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) fail_overflow();
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) fail_overflow();
  }
  return result;
}

IValue power(const IValue& a, const IValue& b) {
  const bool is_integer = !is_float(a) && !is_float(b) && as_int(b) >= 0;
  if (is_integer) return integer_power(as_int(a), as_int(b));
  return std::pow(as_double(a), as_double(b));
}

// Two bools give a bool, as in Python.
template <class Function>
IValue bitwise(const IValue& a, const IValue& b) {
  const int64_t result = Function()(as_int(a), as_int(b));
  if (a.isBool() && b.isBool()) return result != 0;
  return result;
}

int64_t shift_count(const IValue& value) {
  const int64_t count = as_int(value);
  if (count < 0) throw ExecutionError("negative shift count");
  return count;
}

IValue lshift(const IValue& a, const IValue& b) {
  const int64_t count = shift_count(b);
  if (as_int(a) == 0) return int64_t{0};
  if (count > 62) fail_overflow();
  return checked<std::multiplies<>>(a, IValue(int64_t{1} << count));
}

IValue rshift(const IValue& a, const IValue& b) {
  return as_int(a) >> std::min<int64_t>(shift_count(b), 63);
}

using Maximum = decltype([](auto x, auto y) { return std::max(x, y); });
using Minimum = decltype([](auto x, auto y) { return std::min(x, y); });

IValue to_int(double value) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (!(value >= -kLimit && value < kLimit)) fail_overflow();
  return static_cast<int64_t>(value);
}

IValue neg(const IValue& a) { return is_float(a) ? IValue(-a.toDouble()) : negative(a); }
IValue pos(const IValue& a) { return is_float(a) ? a : IValue(as_int(a)); }
IValue trunc(const IValue& a) { return is_float(a) ? to_int(std::trunc(a.toDouble())) : pos(a); }
IValue floor(const IValue& a) { return is_float(a) ? to_int(std::floor(a.toDouble())) : pos(a); }
IValue ceil(const IValue& a) { return is_float(a) ? to_int(std::ceil(a.toDouble())) : pos(a); }
IValue to_float(const IValue& a) { return as_double(a); }
IValue logical_not(const IValue& a) { return !as_bool(a); }

IValue square_root(const IValue& a) {
  if (as_double(a) < 0) throw ExecutionError("the square root of a negative number");
  return std::sqrt(as_double(a));
}

template <IValue (*function)(const IValue&)>
void unary(std::vector<IValue>& stack) {
  stack.at(0) = function(stack.at(0));
}

template <IValue (*function)(const IValue&, const IValue&)>
void binary(std::vector<IValue>& stack) {
  stack.at(0) = function(stack.at(0), stack.at(1));
  stack.resize(1);
}

void if_then_else(std::vector<IValue>& stack) {
  stack.at(0) = as_bool(stack.at(0)) ? stack.at(1) : stack.at(2);
  stack.resize(1);
}

}  // namespace

NumberFunction find_number_function(std::string_view op_type) {
  static const std::unordered_map<std::string_view, NumberFunction> table = {
      {"_operator.add", binary<checked<std::plus<>>>},
      {"_operator.and_", binary<bitwise<std::bit_and<>>>},
      {"_operator.eq", binary<of_numbers<std::equal_to<>>>},
      {"_operator.floordiv", binary<floordiv>},
      {"_operator.ge", binary<of_numbers<std::greater_equal<>>>},
      {"_operator.gt", binary<of_numbers<std::greater<>>>},
      {"_operator.le", binary<of_numbers<std::less_equal<>>>},
      {"_operator.lshift", binary<lshift>},
      {"_operator.lt", binary<of_numbers<std::less<>>>},
      {"_operator.mod", binary<mod>},
      {"_operator.mul", binary<checked<std::multiplies<>>>},
      {"_operator.ne", binary<of_numbers<std::not_equal_to<>>>},
      {"_operator.neg", unary<neg>},
      {"_operator.or_", binary<bitwise<std::bit_or<>>>},
      {"_operator.pos", unary<pos>},
      {"_operator.pow", binary<power>},
      {"_operator.rshift", binary<rshift>},
      {"_operator.sub", binary<checked<std::minus<>>>},
      {"_operator.truediv", binary<truediv>},
      {"math.ceil", unary<ceil>},
      {"math.floor", unary<floor>},
      {"math.trunc", unary<trunc>},
      {"torch._sym_sqrt", unary<square_root>},
      {"torch.sym_float", unary<to_float>},
      {"torch.sym_int", unary<trunc>},
      {"torch.sym_ite", if_then_else},
      {"torch.sym_max", binary<of_numbers<Maximum>>},
      {"torch.sym_min", binary<of_numbers<Minimum>>},
      {"torch.sym_not", unary<logical_not>},
  };
  const auto found = table.find(op_type);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace torch_ir
