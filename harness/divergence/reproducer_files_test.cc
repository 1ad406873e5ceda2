#include "harness/divergence/reproducer_files.h"

#include <gtest/gtest.h>

namespace torch_ir {
namespace {

const ToleranceRule kTolerance = {.fixed = {.rtol = 1e-5, .atol = 0.25}};

std::string command_of(const RunSettings& settings) {
  return reproducer_command(/*has_expected=*/true, settings);
}

TEST(ReproducerCommandTest, OfAnExecutionPlan) {
  RunSettings settings;
  EXPECT_EQ(command_of(settings), "harness --ir .");
  settings.tolerance = kTolerance;
  settings.optimization = Optimization::kFast;
  EXPECT_EQ(command_of(settings), "harness --ir . --rtol 1e-05 --atol 0.25 --optimization fast");
  settings.criterion.reference = ReferenceKind::kFloat64;
  EXPECT_EQ(command_of(settings), "harness --ir . --tolerance own --optimization fast");
}

TEST(ReproducerCommandTest, OfABackend) {
  RunSettings settings;
  settings.backend = "my chip";
  settings.tolerance = kTolerance;
  EXPECT_EQ(command_of(settings), "harness --ir . --backend 'my chip'");
  settings.criterion = {};
  EXPECT_EQ(command_of(settings), "harness --ir . --backend 'my chip' --rtol 1e-05 --atol 0.25");
}

TEST(ReproducerCommandTest, OfAnExecutor) {
  RunSettings settings;
  settings.tolerance = kTolerance;
  settings.executor = "sim --mode='a b' {ir} {weights} {inputs} {outputs}";
  settings.seed = 7;
  settings.criterion = {};
  EXPECT_EQ(
      command_of(settings),
      "harness --ir . --executor 'sim --mode='\\''a b'\\'' {ir} {weights} {inputs} {outputs}' "
      "--rtol 1e-05 --atol 0.25 --seed 7");
  settings.seed = 0;
  settings.executor = "sim";
  settings.executor_intermediates = true;
  EXPECT_EQ(command_of(settings), "harness --ir . --executor sim --rtol 1e-05 --atol 0.25");
  settings.executor = "sim --server";
  settings.executor_is_server = true;
  EXPECT_EQ(command_of(settings),
            "harness --ir . --executor 'sim --server' --per-node --rtol 1e-05 --atol 0.25");
}

TEST(ReproducerCommandTest, RunsTheGraphAsItRan) {
  RunSettings settings;
  settings.optimization = Optimization::kFast;
  settings.seed = 7;
  EXPECT_EQ(command_of(settings), "harness --ir . --seed 7 --optimization fast");
  settings.optimization = Optimization::kExact;
  settings.backend = "chip";
  settings.criterion = {};
  EXPECT_EQ(command_of(settings), "harness --ir . --backend chip --tolerance dtype --seed 7");
}

// Without expected outputs, the command would otherwise run more than one trial.
TEST(ReproducerCommandTest, RunsOnItsInputsOnly) {
  EXPECT_EQ(reproducer_command(/*has_expected=*/false, RunSettings()), "harness --ir . --trials 1");
}

}  // namespace
}  // namespace torch_ir
