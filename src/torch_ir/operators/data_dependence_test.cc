#include "torch_ir/operators/data_dependence.h"

#include <gtest/gtest.h>

namespace torch_ir {
namespace {

TEST(DataDependence, HoldsWhereValuesDecideTheShape) {
  EXPECT_TRUE(depends_on_data("aten::nonzero"));
  EXPECT_TRUE(depends_on_data("aten::item"));
  EXPECT_TRUE(depends_on_data("aten::equal"));
}

TEST(DataDependence, HoldsForWholeNamesOnly) {
  EXPECT_FALSE(depends_on_data("aten::nonzero_static"));
  EXPECT_FALSE(depends_on_data("aten::relu"));
  EXPECT_FALSE(depends_on_data("nonzero"));
}

}  // namespace
}  // namespace torch_ir
