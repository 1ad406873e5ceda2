#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/exporter/pt2/archive_values.h"
#include "torch_ir/ir/sym_expr.h"

namespace torch_ir {
namespace {

using ::testing::ThrowsMessage;

// The texts of sympy 1.14's srepr.
constexpr std::pair<const char*, const char*> kCases[] = {
    {"Symbol('s0', positive=True, integer=True)", "s0"},
    {"Integer(-2)", "-2"},
    {"Add(Symbol('s0', positive=True, integer=True), Integer(1))", "s0 + 1"},
    {"Add(Mul(Integer(2), Symbol('s0')), Integer(-3))", "2*s0 - 3"},
    {"Add(Integer(1), Mul(Integer(-1), Symbol('s0')))", "1 - s0"},
    {"Add(Mul(Integer(-1), Symbol('s0')), Integer(-1))", "-s0 - 1"},
    {"Mul(Symbol('s0'), Add(Symbol('s0'), Integer(1)))", "s0*(s0 + 1)"},
    {"Mul(Rational(1, 2), Symbol('s0'), Add(Symbol('s0'), Integer(1)))", "s0*(s0 + 1)/2"},
    {"Mul(Rational(-3, 2), Symbol('s0'))", "-3*s0/2"},
    {"Mul(Symbol('s0'), Pow(Symbol('s1'), Integer(-1)))", "s0/s1"},
    {"Pow(Symbol('s0'), Integer(2))", "s0**2"},
    {"Pow(Symbol('s0'), Integer(-1))", "1/s0"},
    {"FloorDiv(Add(Symbol('s0'), Integer(1)), Integer(2))", "(s0 + 1)//2"},
    {"Mul(Integer(3), FloorDiv(Symbol('s0'), Integer(2)))", "3*(s0//2)"},
    {"FloorDiv(Mul(Integer(2), Symbol('s0')), Integer(3))", "(2*s0)//3"},
    {"FloorDiv(Mul(Integer(-1), Symbol('s0')), Integer(2))", "(-s0)//2"},
    {"Mul(Integer(-1), Pow(Symbol('s0'), Integer(2)))", "-s0**2"},
    {"Pow(Mul(Integer(-1), Symbol('s0')), Integer(2))", "(-s0)**2"},
    {"Mul(Symbol('s0'), Mod(Symbol('s0'), Symbol('s1')), Integer(-1))", "s0*Mod(s0, s1)*(-1)"},
    {"Mod(Symbol('s0'), Integer(3))", "Mod(s0, 3)"},
    {"Max(Integer(1), Symbol('s0'))", "Max(1, s0)"},
    {"TruncToInt(Mul(Float('2.5', precision=53), Symbol('s0')))", "TruncToInt((5/2)*s0)"},
    {"Float('3.0', precision=53)", "3"},
    {"Piecewise(ExprCondPair(Symbol('s0'), StrictGreaterThan(Symbol('s0'), Integer(3))), "
     "ExprCondPair(Integer(1), true))",
     "Piecewise(ExprCondPair(s0, StrictGreaterThan(s0, 3)), ExprCondPair(1, true))"},
    {"Min(Symbol('s0'), int_oo)", "Min(s0, int_oo)"},
};

TEST(SympyTextTest, WritesWhatAnIrReads) {
  for (const auto& [srepr, infix] : kCases) {
    EXPECT_EQ(infix_of_srepr(srepr), infix);
    EXPECT_NO_THROW(SymExpr::parse(infix)) << infix;
  }
}

TEST(SympyTextTest, NothingButExpressionsIsRead) {
  const struct {
    std::string text;
    const char* message;
  } cases[] = {
      {"", "the expression '' has a syntax error at character 1"},
      {"Add(Integer(1)", "the expression 'Add(Integer(1)' has a syntax error at character 15"},
      {"Integer(1))", "the expression 'Integer(1))' has a syntax error at character 11"},
      {"Symbol('s0", "the expression 'Symbol('s0' has a syntax error at character 9"},
      {"__import__('os').system('true')",
       "the expression '__import__('os').system('true')' has a syntax error at character 17"},
      {"Symbol('s0; x')", "unsupported symbol 's0; x' in an expression"},
      {"Symbol('0')", "unsupported symbol '0' in an expression"},
      {"Symbol(Integer(1))", "unsupported call 'Symbol' in an expression"},
      {"Float('x', precision=53)", "unsupported float 'x' in an expression"},
      {"Float('1e300', precision=53)", "unsupported float '1e300' in an expression"},
      {"Symbol('a', evil=True)",
       "the expression 'Symbol('a', evil=True)' has the unknown argument 'evil'"},
      {"Foo(Integer(1))", "unsupported function 'Foo' in an expression"},
      {"Max(Integer(1), zoo)", "unsupported name 'zoo' in an expression"},
      {"true", "unsupported name 'true' in an expression"},
      {"Max('s0')", "unsupported string 's0' in an expression"},
      {"Rational(1)", "unsupported call 'Rational' in an expression"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT([&] { infix_of_srepr(text); }, ThrowsMessage<ExportError>(message));
  }
}

TEST(SympyTextTest, SizesAreLimited) {
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "Max(";
  EXPECT_THAT([&] { infix_of_srepr(deep); },
              ThrowsMessage<ExportError>(::testing::EndsWith("is nested deeper than 100 levels")));
  EXPECT_THAT([] { infix_of_srepr(std::string(20'001, '1')); },
              ThrowsMessage<ExportError>(::testing::EndsWith("is longer than 20000 characters")));
}

}  // namespace
}  // namespace torch_ir
