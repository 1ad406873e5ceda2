// Every model of the registry at the optimization level `fast`, within 1e-4.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "torch_ir/harness/harness.h"
#include "torch_ir/models/registry.h"

namespace torch_ir {
namespace {

TEST(FastTest, EveryModelIsWithinTheTolerance) {
  HarnessOptions options;
  const char* outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  options.output = outputs != nullptr ? outputs : ::testing::TempDir() + "fast_test";
  options.run.settings.optimization = Optimization::kFast;
  options.run.settings.tolerance = {.rtol = 1e-4, .atol = 1e-4};
  const std::vector<ModelResult> results = run_harness(options);
  EXPECT_EQ(results.size(), list_models().size());
  EXPECT_GE(results.size(), 12u);
  for (const ModelResult& result : results) {
    SCOPED_TRACE(result.name);
    EXPECT_TRUE(result.passed()) << (result.failure ? result.failure->message : "");
    ASSERT_TRUE(result.verification);
    EXPECT_EQ(result.verification->optimization, Optimization::kFast);
  }
}

}  // namespace
}  // namespace torch_ir
