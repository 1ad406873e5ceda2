#include "harness/results/run_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(ModelRecordTest, TheStageIsTheOneThatFailedOrTheLast) {
  ModelResult result{.name = "Net", .num_passed_stages = kStages.size()};
  EXPECT_EQ(model_record(result).stage, Stage::kVerify);
  EXPECT_EQ(model_record(result).status, Status::kPassed);
  result.num_passed_stages = 1;
  result.failure = Failure{.kind = FailureKind::kCrashed, .stage = Stage::kSerialize};
  EXPECT_EQ(model_record(result).stage, Stage::kSerialize);
  EXPECT_EQ(model_record(result).failure, FailureKind::kCrashed);
  EXPECT_FALSE(model_record(result).graph);
}

TEST(RunResultsTest, APortableRunDoesNotNameItsLibTorch) {
  RunContext context;
  context.environment = {{"libtorch", "2.13.0"}, {"blas", "mkl"}};
  EXPECT_EQ(run_results({}, {}, context).environment, context.environment);
  context.portable = true;
  EXPECT_THAT(run_results({}, {}, context).environment, ElementsAre(Pair("libtorch", "<version>")));
}

}  // namespace
}  // namespace torch_ir
