#include "torch_ir/operators/operator_table.h"

#include <gtest/gtest.h>

namespace torch_ir {
namespace {

bool may_depend(const char* name, const char* overload = "") {
  return may_depend_on_data(c10::Dispatcher::singleton().findSchemaOrThrow(name, overload));
}

TEST(OperatorTable, KnowsWhereValuesDecideTheShape) {
  EXPECT_TRUE(may_depend("aten::nonzero"));
  EXPECT_TRUE(may_depend("aten::item"));
  EXPECT_TRUE(may_depend("aten::equal"));
  // No tag says so.
  EXPECT_TRUE(may_depend("aten::is_nonzero"));
  EXPECT_TRUE(may_depend("aten::tensor_split", "sections"));
  EXPECT_TRUE(may_depend("aten::repeat_interleave", "self_Tensor"));
  EXPECT_FALSE(may_depend("aten::nonzero_static"));
  EXPECT_FALSE(may_depend("aten::relu"));
  // Their Meta kernels know the shape of most calls.
  EXPECT_FALSE(may_depend("aten::index", "Tensor"));
  EXPECT_FALSE(may_depend("aten::linalg_lstsq", "out"));
}

TEST(OperatorSupportTest, SaysWhatIsReplayed) {
  EXPECT_EQ(operator_support("aten.dropout.default").replayed, "unless it draws random numbers");
  EXPECT_EQ(operator_support("aten.index.Tensor").replayed, "unless its result depends on data");
  EXPECT_EQ(operator_support("aten.nonzero.default").replayed, "no: its result depends on data");
  EXPECT_EQ(operator_support("aten.relu_.default").replayed, "yes");
  EXPECT_EQ(operator_support("_operator.mul").replayed, "yes");
  EXPECT_EQ(operator_support("higher_order.cond").replayed, "no: only its graphs are");
  EXPECT_EQ(operator_support("no.such.operator").replayed, "");
}

}  // namespace
}  // namespace torch_ir
