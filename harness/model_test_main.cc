// The test that torch_ir_model_test makes: the model of --model, registered with --categories, goes
// through the pipeline, and its page and IR are left in TEST_UNDECLARED_OUTPUTS_DIR.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/executor/optimization_name.h"
#include "torch_ir/harness/harness.h"
#include "torch_ir/harness/runner.h"
#include "torch_ir/models/registry.h"

namespace torch_ir {
namespace {

struct BuildLine {
  std::string model;
  std::vector<std::string> categories;
  Optimization optimization = Optimization::kExact;
};

BuildLine& build_line() {
  static BuildLine line;
  return line;
}

// Exactly one model, so that nothing else decides what the test shows.
TEST(ModelTest, IsRegisteredAsItsBuildLineSays) {
  const std::vector<RegisteredModel> models = list_models();
  ASSERT_EQ(models.size(), 1u) << "the library of this test registers several models, or none";
  EXPECT_EQ(models[0].name, build_line().model);
  EXPECT_EQ(models[0].spec.categories, build_line().categories);
}

TEST(ModelTest, Passes) {
  const char* outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  HarnessOptions options;
  options.output = outputs != nullptr ? outputs : ::testing::TempDir() + build_line().model;
  options.selection.models = {build_line().model};
  options.summary = false;
  options.run.settings.optimization = build_line().optimization;
  const std::vector<ModelResult> results = run_harness(options, {.lines = &std::cout});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_TRUE(results[0].passed()) << results[0].failure->message << '\n'
                                   << results[0].failure->output;
}

bool parse(std::string_view argument) {
  const auto value_of = [&](std::string_view flag) {
    return argument.starts_with(flag) ? std::string(argument.substr(flag.size())) : "";
  };
  if (const std::string model = value_of("--model="); !model.empty()) {
    build_line().model = model;
    return true;
  }
  if (const std::string name = value_of("--optimization="); !name.empty()) {
    build_line().optimization = parse_optimization(name);
    return true;
  }
  const std::string categories = value_of("--categories=");
  std::istringstream stream(categories);
  for (std::string category; std::getline(stream, category, ',');) {
    build_line().categories.push_back(category);
  }
  return !categories.empty();
}

}  // namespace
}  // namespace torch_ir

int main(int argc, char** argv) {
  if (const auto status = torch_ir::run_as_child(argc, argv)) return *status;
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (!torch_ir::parse(argv[i])) {
      std::cerr << "unknown argument " << argv[i] << '\n';
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}
