#include "torch_ir/operators/number_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/builtin_operators.h"

namespace torch_ir {
namespace {

using ::testing::ThrowsMessage;

c10::IValue call(const std::string& op_type, std::vector<c10::IValue> stack) {
  const NumberFunction function = find_number_function(op_type);
  if (function == nullptr) throw ExecutionError("no function " + op_type);
  EXPECT_NE(find_builtin_schema(op_type), nullptr) << op_type;
  function(stack);
  EXPECT_EQ(stack.size(), 1u);
  return stack.at(0);
}

TEST(NumberFunctionsTest, FollowPython) {
  // The expected values are those of Python's expressions.
  EXPECT_EQ(call("_operator.add", {2, 3}).toInt(), 5);
  EXPECT_EQ(call("_operator.sub", {2, 3}).toInt(), -1);
  EXPECT_EQ(call("_operator.mul", {-2, 3}).toInt(), -6);
  EXPECT_EQ(call("_operator.floordiv", {-7, 2}).toInt(), -4);
  EXPECT_EQ(call("_operator.floordiv", {7, -2}).toInt(), -4);
  EXPECT_EQ(call("_operator.mod", {-7, 3}).toInt(), 2);
  EXPECT_EQ(call("_operator.mod", {7, -3}).toInt(), -2);
  EXPECT_EQ(call("_operator.pow", {3, 4}).toInt(), 81);
  EXPECT_EQ(call("_operator.lshift", {3, 4}).toInt(), 48);
  EXPECT_EQ(call("_operator.rshift", {-9, 1}).toInt(), -5);
  EXPECT_EQ(call("_operator.and_", {12, 10}).toInt(), 8);
  EXPECT_EQ(call("_operator.or_", {12, 10}).toInt(), 14);
  EXPECT_EQ(call("_operator.neg", {5}).toInt(), -5);
  EXPECT_EQ(call("_operator.pos", {true}).toInt(), 1);
  EXPECT_EQ(call("torch.sym_max", {2, 3}).toInt(), 3);
  EXPECT_EQ(call("torch.sym_min", {2, 3}).toInt(), 2);
  EXPECT_EQ(call("_operator.add", {2, 0.5}).toDouble(), 2.5);
  EXPECT_EQ(call("_operator.truediv", {7, 2}).toDouble(), 3.5);
  EXPECT_EQ(call("_operator.floordiv", {-7.0, 2}).toDouble(), -4.0);
  EXPECT_EQ(call("_operator.mod", {-7.5, 2}).toDouble(), 0.5);
  EXPECT_EQ(call("_operator.pow", {2, -1}).toDouble(), 0.5);
  EXPECT_EQ(call("math.trunc", {-2.7}).toInt(), -2);
  EXPECT_EQ(call("math.floor", {-2.7}).toInt(), -3);
  EXPECT_EQ(call("math.ceil", {-2.7}).toInt(), -2);
  EXPECT_EQ(call("torch.sym_int", {2.7}).toInt(), 2);
  EXPECT_EQ(call("torch.sym_float", {2}).toDouble(), 2.0);
  EXPECT_EQ(call("torch._sym_sqrt", {9}).toDouble(), 3.0);
  EXPECT_TRUE(call("_operator.eq", {2, 2.0}).toBool());
  EXPECT_TRUE(call("_operator.ne", {2, 3}).toBool());
  EXPECT_TRUE(call("_operator.lt", {2, 3}).toBool());
  EXPECT_TRUE(call("_operator.le", {3, 3}).toBool());
  EXPECT_FALSE(call("_operator.gt", {2, 3}).toBool());
  EXPECT_TRUE(call("_operator.ge", {3, 3}).toBool());
  EXPECT_TRUE(call("_operator.and_", {true, true}).isBool());
  EXPECT_FALSE(call("torch.sym_not", {true}).toBool());
  EXPECT_EQ(call("torch.sym_ite", {true, 1, 2}).toInt(), 1);
  EXPECT_EQ(call("torch.sym_ite", {false, 1, 2}).toInt(), 2);
}

TEST(NumberFunctionsTest, RefusesWhatHasNoResult) {
  const int64_t largest = INT64_MAX;
  const auto throws = [](const char* op_type, std::vector<c10::IValue> stack, const char* message) {
    EXPECT_THAT([&] { call(op_type, stack); }, ThrowsMessage<ExecutionError>(message)) << op_type;
  };
  throws("_operator.floordiv", {1, 0}, "division by zero");
  throws("_operator.mod", {1, 0}, "division by zero");
  throws("_operator.truediv", {1, 0}, "division by zero");
  throws("_operator.add", {largest, 1}, "the result needs more than 64 bits");
  throws("_operator.mul", {largest, 2}, "the result needs more than 64 bits");
  throws("_operator.pow", {10, 30}, "the result needs more than 64 bits");
  throws("_operator.lshift", {1, -1}, "negative shift count");
  throws("math.trunc", {1e30}, "the result needs more than 64 bits");
  throws("torch._sym_sqrt", {-1}, "the square root of a negative number");
  EXPECT_EQ(find_number_function("_operator.matmul"), nullptr);
}

}  // namespace
}  // namespace torch_ir
