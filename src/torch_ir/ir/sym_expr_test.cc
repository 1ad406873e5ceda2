#include "torch_ir/ir/sym_expr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

std::optional<int64_t> value(const std::string& text, const SymbolValues& values = {}) {
  return SymExpr::parse(text).evaluate(values);
}

TEST(SymExprTest, EvaluatesAsPythonDoes) {
  EXPECT_EQ(value("2 + 3*4 - 1"), 13);
  EXPECT_EQ(value("(2 + 3)*4"), 20);
  EXPECT_EQ(value("-2**2"), -4);
  EXPECT_EQ(value("2**3**2"), 512);
  EXPECT_EQ(value("7 - 2 - 1"), 4);
  EXPECT_EQ(value("100//7//2"), 7);
  // Values of Python's own operators.
  EXPECT_EQ(value("-7//2"), -4);
  EXPECT_EQ(value("7//-2"), -4);
  EXPECT_EQ(value("-7 % 3"), 2);
  EXPECT_EQ(value("7 % -3"), -2);
  EXPECT_EQ(value("Mod(-7, 3)"), 2);
  EXPECT_EQ(value("FloorDiv(-7, 2)"), -4);
  EXPECT_EQ(value("CeilDiv(7, 2)"), 4);
  EXPECT_EQ(value("2*s0 + Max(1, u0)", {{"s0", 5}, {"u0", 0}}), 11);
  EXPECT_EQ(value("Min(s0, 3, s1)", {{"s0", 5}, {"s1", 2}}), 2);
  EXPECT_EQ(value("s0 + 1"), std::nullopt);
  EXPECT_EQ(value("Piecewise(1, 2)"), std::nullopt);
  EXPECT_EQ(value("1//0"), std::nullopt);
  EXPECT_EQ(value("Mod(1, 2, 3)"), std::nullopt);
  EXPECT_EQ(value("7/2"), std::nullopt);
  EXPECT_EQ(value("9223372036854775807 + 1"), std::nullopt);
  EXPECT_EQ(value("10**40"), std::nullopt);
}

TEST(SymExprTest, NamesItsSymbolsAndSolvesForOne) {
  EXPECT_THAT(SymExpr::parse("s1*(s0 + s1)").symbols(), ElementsAre("s1", "s0"));
  EXPECT_EQ(SymExpr::parse("s1").as_symbol(), "s1");
  EXPECT_EQ(SymExpr::parse("s1 + 0").as_symbol(), std::nullopt);
  const auto solve = [](const std::string& text, int64_t result) {
    return solve_linear(SymExpr::parse(text), "s", result, {{"t", 3}});
  };
  EXPECT_EQ(solve("s", 7), 7);
  EXPECT_EQ(solve("4*s", 12), 3);
  EXPECT_EQ(solve("4*s", 13), std::nullopt);
  EXPECT_EQ(solve("2*s + t", 11), 4);
  EXPECT_EQ(solve("t", 3), std::nullopt);
  EXPECT_EQ(solve("u*s", 3), std::nullopt);
}

void expect_no_expression(const std::string& text, const std::string& why) {
  EXPECT_THAT([&] { SymExpr::parse(text); },
              ThrowsMessage<ValidationError>("the expression '" + text.substr(0, 80) + "' " + why));
}

TEST(SymExprTest, RefusesWhatIsNoExpression) {
  expect_no_expression("", "ends unexpectedly");
  expect_no_expression("s0 +", "ends unexpectedly");
  expect_no_expression("__import__('os')", "has a syntax error at character 12");
  expect_no_expression("1.5", "has a syntax error at character 2");
  expect_no_expression("s0 s1", "has a syntax error at character 4");
  expect_no_expression("(1", "has a syntax error at character 3");
  expect_no_expression("99999999999999999999", "has a number beyond 64 bits");
}

TEST(SymExprTest, LevelsAndLengthAreLimited) {
  // Each takes two levels: the parentheses, and the first term inside.
  const auto nested = [](size_t levels) {
    return std::string(levels, '(') + "s" + std::string(levels, ')');
  };
  EXPECT_NO_THROW(SymExpr::parse(nested(49)));
  expect_no_expression(nested(50), "is nested deeper than 100 levels");
  EXPECT_NO_THROW(SymExpr::parse("s" + std::string(kMaxExpressionLength - 1, ' ')));
  expect_no_expression("s" + std::string(kMaxExpressionLength, ' '),
                       "is longer than 10000 characters");
}

// Python's values, 1 for True.
TEST(SymExprTest, EvaluatesConditionsAsPythonDoes) {
  const auto condition = [](const std::string& text) {
    return SymExpr::parse_condition(text).evaluate(
        {{"x.size()[0]", 9}, {"x.stride()[1]", 4}, {"n", 10}, {"nothing", 0}});
  };
  EXPECT_EQ(condition("(x.size()[0] % 4) == 0"), 0);
  EXPECT_EQ(condition("1 + x.size()[0] // 2 < x.stride()[1] or n != 10"), 0);
  EXPECT_EQ(condition("n == 10 or n == 9 and x.size()[0] == 8"), 1);
  EXPECT_EQ(condition("not (n == 9) and not nothing == 1"), 1);
  EXPECT_EQ(condition("3 < 2 < 1"), 0);
  EXPECT_EQ(condition("2 <= x.size()[0] <= 64"), 1);
  EXPECT_EQ(condition("2 <= x.size()[0] < 9"), 0);
  EXPECT_EQ(condition("max(1, n, 3)*min(2, n) == 20 and abs(-n) == n"), 1);
  EXPECT_EQ(condition("n & 3 == 2"), 1);
  EXPECT_EQ(condition("(n & 3) == 2 and (n | 1) == 11 and (n ^ 3) == 9"), 1);
  EXPECT_EQ(condition("n / 4 > 2.5"), 0);
  EXPECT_EQ(condition("n / 4 == 2.5"), 1);
  EXPECT_EQ(condition("0.1*torch.sym_float(n) + 0.2 == 1.2 and 1e-1 < 0.25"), 1);
  EXPECT_EQ(condition("round(0.25*n) == 2 and math.ceil(n / 4) == 3"), 1);
  EXPECT_EQ(condition("math.trunc(-0.25*n) == -2 and math.floor(-0.25*n) % 4 == 1"), 1);
  EXPECT_EQ(condition("torch._sym_sqrt(torch.sym_float(x.size()[0])) == 3"), 1);
  EXPECT_EQ(condition("2**n > 1000 and 2**100 > 2**99"), 1);
  EXPECT_EQ(condition("9007199254740993 % 9007199254740992 == 1"), 1);
  // Python fails.
  EXPECT_EQ(condition("n % nothing == 0"), std::nullopt);
  // Beyond 64 bits.
  EXPECT_EQ(condition("3**100 % 7 == 4"), std::nullopt);
}

TEST(SymExprTest, RefusesWhatIsNoCondition) {
  for (const std::string text : {"", "n ==", "n = 1", "L['x']._base.size()[0] == 1",
                                 "1 if n == 1 else 2", "n << 2 == 1", "n is None", "n == 1 n"}) {
    EXPECT_THROW(SymExpr::parse_condition(text), ValidationError) << text;
  }
  for (const std::string text : {"s0 == 1", "not s0", "s0 & 1", "1.5", "x.size()[0]"}) {
    EXPECT_THROW(SymExpr::parse(text), ValidationError) << text;
  }
  EXPECT_EQ(SymExpr::parse_condition("math.cos(n) == 1").unknown_function(), "math.cos");
  EXPECT_EQ(SymExpr::parse_condition("x.storage_offset() == 1").unknown_function(),
            "x.storage_offset");
}

}  // namespace
}  // namespace torch_ir
