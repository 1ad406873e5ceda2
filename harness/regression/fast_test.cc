// Every model of the registry, and archives shaped like real models, at the optimization level
// `fast`: within 1e-4 of what is expected.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "harness/harness.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

HarnessOptions fast_options() {
  HarnessOptions options;
  const char* outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  options.output = outputs != nullptr ? outputs : ::testing::TempDir() + "fast_test";
  options.run.settings.optimization = Optimization::kFast;
  options.run.settings.tolerance.fixed = {.rtol = 1e-4, .atol = 1e-4};
  options.summary = false;
  return options;
}

void expect_passed(const std::vector<ModelResult>& results) {
  for (const ModelResult& result : results) {
    SCOPED_TRACE(result.name);
    EXPECT_TRUE(result.passed()) << (result.failure ? result.failure->message : "");
    ASSERT_NE(result.worst_trial(), nullptr);
    EXPECT_EQ(result.worst_trial()->verification.optimization, Optimization::kFast);
  }
}

TEST(FastTest, ModelsOfTheRegistryAreWithinTheTolerance) {
  const std::vector<ModelResult> results = run_harness(fast_options()).results;
  EXPECT_EQ(results.size(), list_models().size());
  EXPECT_GE(results.size(), 12u);
  expect_passed(results);
}

TEST(FastTest, ArchivesAreWithinTheTolerance) {
  HarnessOptions options = fast_options();
  options.files = {{.path = "harness/testdata"}};
  const std::vector<ModelResult> results = run_harness(options).results;
  EXPECT_GE(results.size(), 17u);
  expect_passed(results);
}

}  // namespace
}  // namespace torch_ir
