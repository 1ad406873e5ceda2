#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;

TEST(LargeConstantsTest, OnlyThoseBeyondTheLimitMove) {
  IR ir;
  ir.constants.insert("mask", at::zeros({256, 256}));
  ir.constants.insert("table", at::zeros({65'537}));
  ir.constants.insert("scale", at::zeros({}));
  StateDict weights = {{"fc.weight", at::zeros({2})}};
  move_large_constants(ir, weights);
  EXPECT_THAT(ir.constants.keys(), ElementsAre("mask", "scale"));
  EXPECT_THAT(weights.keys(), ElementsAre("fc.weight", "table"));
}

}  // namespace
}  // namespace torch_ir
