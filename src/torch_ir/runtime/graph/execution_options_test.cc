#include "torch_ir/runtime/graph/execution_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

using ::testing::ThrowsMessage;

TEST(OptimizationNames, AreReadAsTheyAreWritten) {
  EXPECT_EQ(optimization_name(Optimization::kExact), "exact");
  EXPECT_EQ(optimization_name(Optimization::kFast), "fast");
  for (const Optimization optimization : {Optimization::kExact, Optimization::kFast}) {
    EXPECT_EQ(parse_optimization(optimization_name(optimization)), optimization);
  }
  EXPECT_THAT(
      [] { parse_optimization("fast\n"); },
      ThrowsMessage<Error>("unknown optimization level 'fast\\x0a'; expected exact or fast"));
}

// This program does not link torch_ir/fast. Reports name the level that ran.
TEST(ChooseOptimization, RunsExactWithoutTheLibraryOfFast) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(choose_optimization("exact"), Optimization::kExact);
  EXPECT_EQ(choose_optimization("fast"), Optimization::kExact);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "oneDNN is missing, which level fast needs: torch-ir was built without it, or its "
            "library cannot be opened; running level exact instead.\n");
  ExecutionOptions options;
  options.optimization = Optimization::kFast;
  EXPECT_EQ(running_level(options), Optimization::kExact);
  EXPECT_EQ(onednn_version(), std::nullopt);
  const EagerGraph graph = linear_graph();
  EXPECT_TRUE(same_bits(fast_plan(graph).run(graph.inputs)[0], graph.expected()[0]));
}

}  // namespace
}  // namespace torch_ir
