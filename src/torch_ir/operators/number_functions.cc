#include "torch_ir/operators/number_functions.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_map>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using c10::IValue;

bool is_float(const IValue& value) { return value.isDouble(); }

int64_t as_int(const IValue& value) {
  if (value.isBool()) return value.toBool() ? 1 : 0;
  if (value.isInt()) return value.toInt();
  throw ExecutionError("an integer is needed, not " + value.tagKind());
}

double as_double(const IValue& value) {
  return is_float(value) ? value.toDouble() : static_cast<double>(as_int(value));
}

bool as_bool(const IValue& value) {
  return is_float(value) ? value.toDouble() != 0 : as_int(value) != 0;
}

[[noreturn]] void fail_overflow() { throw ExecutionError("the result needs more than 64 bits"); }
[[noreturn]] void fail_zero() { throw ExecutionError("division by zero"); }

// Ints where both are ints, floats otherwise.
template <class Ints, class Floats>
IValue arithmetic(const IValue& a, const IValue& b, Ints ints, Floats floats) {
  if (is_float(a) || is_float(b)) return IValue(floats(as_double(a), as_double(b)));
  return IValue(ints(as_int(a), as_int(b)));
}

IValue add(const IValue& a, const IValue& b) {
  return arithmetic(
      a, b,
      [](int64_t x, int64_t y) {
        int64_t result = 0;
        if (__builtin_add_overflow(x, y, &result)) fail_overflow();
        return result;
      },
      [](double x, double y) { return x + y; });
}

IValue sub(const IValue& a, const IValue& b) {
  return arithmetic(
      a, b,
      [](int64_t x, int64_t y) {
        int64_t result = 0;
        if (__builtin_sub_overflow(x, y, &result)) fail_overflow();
        return result;
      },
      [](double x, double y) { return x - y; });
}

IValue mul(const IValue& a, const IValue& b) {
  return arithmetic(
      a, b,
      [](int64_t x, int64_t y) {
        int64_t result = 0;
        if (__builtin_mul_overflow(x, y, &result)) fail_overflow();
        return result;
      },
      [](double x, double y) { return x * y; });
}

int64_t floor_divide(int64_t x, int64_t y) {
  if (y == 0) fail_zero();
  if (y == -1) return as_int(sub(IValue(int64_t{0}), IValue(x)));
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

template <class Compare>
IValue compare(const IValue& a, const IValue& b, Compare compare) {
  if (is_float(a) || is_float(b)) return IValue(compare(as_double(a), as_double(b)));
  return IValue(compare(as_int(a), as_int(b)));
}

IValue eq(const IValue& a, const IValue& b) {
  return compare(a, b, [](auto x, auto y) { return x == y; });
}
IValue ne(const IValue& a, const IValue& b) {
  return compare(a, b, [](auto x, auto y) { return x != y; });
}
IValue lt(const IValue& a, const IValue& b) {
  return compare(a, b, [](auto x, auto y) { return x < y; });
}
IValue le(const IValue& a, const IValue& b) {
  return compare(a, b, [](auto x, auto y) { return x <= y; });
}
IValue gt(const IValue& a, const IValue& b) { return lt(b, a); }
IValue ge(const IValue& a, const IValue& b) { return le(b, a); }

// Of two bools a bool, as in Python.
template <class Combine>
IValue bitwise(const IValue& a, const IValue& b, Combine combine) {
  const int64_t result = combine(as_int(a), as_int(b));
  if (a.isBool() && b.isBool()) return result != 0;
  return result;
}

IValue bit_and(const IValue& a, const IValue& b) {
  return bitwise(a, b, [](int64_t x, int64_t y) { return x & y; });
}
IValue bit_or(const IValue& a, const IValue& b) {
  return bitwise(a, b, [](int64_t x, int64_t y) { return x | y; });
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
  return mul(a, IValue(int64_t{1} << count));
}

IValue rshift(const IValue& a, const IValue& b) {
  return as_int(a) >> std::min<int64_t>(shift_count(b), 63);
}

IValue maximum(const IValue& a, const IValue& b) {
  return arithmetic(
      a, b, [](int64_t x, int64_t y) { return std::max(x, y); },
      [](double x, double y) { return std::max(x, y); });
}

IValue minimum(const IValue& a, const IValue& b) {
  return arithmetic(
      a, b, [](int64_t x, int64_t y) { return std::min(x, y); },
      [](double x, double y) { return std::min(x, y); });
}

IValue to_int(double value) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (!(value >= -kLimit && value < kLimit)) fail_overflow();
  return static_cast<int64_t>(value);
}

IValue neg(const IValue& a) {
  return is_float(a) ? IValue(-a.toDouble()) : sub(IValue(int64_t{0}), a);
}
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
      {"_operator.add", binary<add>},
      {"_operator.and_", binary<bit_and>},
      {"_operator.eq", binary<eq>},
      {"_operator.floordiv", binary<floordiv>},
      {"_operator.ge", binary<ge>},
      {"_operator.gt", binary<gt>},
      {"_operator.le", binary<le>},
      {"_operator.lshift", binary<lshift>},
      {"_operator.lt", binary<lt>},
      {"_operator.mod", binary<mod>},
      {"_operator.mul", binary<mul>},
      {"_operator.ne", binary<ne>},
      {"_operator.neg", unary<neg>},
      {"_operator.or_", binary<bit_or>},
      {"_operator.pos", unary<pos>},
      {"_operator.pow", binary<power>},
      {"_operator.rshift", binary<rshift>},
      {"_operator.sub", binary<sub>},
      {"_operator.truediv", binary<truediv>},
      {"math.ceil", unary<ceil>},
      {"math.floor", unary<floor>},
      {"math.trunc", unary<trunc>},
      {"torch._sym_sqrt", unary<square_root>},
      {"torch.sym_float", unary<to_float>},
      {"torch.sym_int", unary<trunc>},
      {"torch.sym_ite", if_then_else},
      {"torch.sym_max", binary<maximum>},
      {"torch.sym_min", binary<minimum>},
      {"torch.sym_not", unary<logical_not>},
  };
  const auto found = table.find(op_type);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace torch_ir
