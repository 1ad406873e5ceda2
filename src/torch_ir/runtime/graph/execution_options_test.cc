#include "torch_ir/runtime/graph/execution_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using ::testing::ThrowsMessage;

TEST(OptimizationNames, AreReadAsTheyAreWritten) {
  EXPECT_EQ(optimization_name(Optimization::kExact), "exact");
  EXPECT_EQ(optimization_name(Optimization::kFast), "fast");
  for (const Optimization optimization : {Optimization::kExact, Optimization::kFast}) {
    EXPECT_EQ(parse_optimization(optimization_name(optimization)), optimization);
  }
}

// Reports name the level that ran.
TEST(ChooseOptimization, GivesFastOnlyWithItsLibrary) {
  const Optimization fast = onednn_version() ? Optimization::kFast : Optimization::kExact;
  EXPECT_EQ(choose_optimization("fast"), fast);
  ExecutionOptions options;
  EXPECT_EQ(running_level(options), Optimization::kExact);
  options.optimization = Optimization::kFast;
  EXPECT_EQ(running_level(options), fast);
  options.trace = false;
  EXPECT_EQ(running_level(options), Optimization::kExact);
  EXPECT_EQ(choose_optimization("exact"), Optimization::kExact);
}

TEST(OptimizationNames, AreAllThatIsRead) {
  EXPECT_THAT([] { parse_optimization("faster"); },
              ThrowsMessage<Error>("unknown optimization level 'faster'; expected exact or fast"));
  EXPECT_THAT(
      [] { parse_optimization("fast\n"); },
      ThrowsMessage<Error>("unknown optimization level 'fast\\x0a'; expected exact or fast"));
}

}  // namespace
}  // namespace torch_ir
