// The test that torch_ir_pt2_test makes: the archive of --pt2 goes through the pipeline, with the
// tensors of --inputs and --expected where they are given, and its page and IR are left in
// TEST_UNDECLARED_OUTPUTS_DIR.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

#include "harness/harness.h"
#include "harness/regression/test_flags.h"
#include "harness/run/runner.h"
#include "torch_ir/executor/graph/execution_options.h"

namespace torch_ir {
namespace {

HarnessOptions& options() {
  static HarnessOptions options{.files = {{}}, .summary = false};
  return options;
}

TEST(Pt2Test, Passes) {
  options().output = report_directory("pt2_test");
  const std::vector<ModelResult> results = run_harness(options(), {.lines = &std::cout}).results;
  ASSERT_EQ(results.size(), 1u);
  EXPECT_TRUE(results[0].passed()) << results[0].failure->message << '\n'
                                   << results[0].failure->output;
}

// They throw where the value is no number and has to be one.
TestFlags flags() {
  ModelFilesArgument& archive = options().files.front();
  RunSettings& settings = options().run.settings;
  Tolerance& tolerance = settings.tolerance.fixed;
  return {
      {"--pt2", [&](const std::string& value) { archive.path = value; }},
      {"--inputs", [&](const std::string& value) { archive.inputs = value; }},
      {"--expected", [&](const std::string& value) { archive.expected = value; }},
      {"--rtol", [&](const std::string& value) { tolerance.rtol = std::stod(value); }},
      {"--atol", [&](const std::string& value) { tolerance.atol = std::stod(value); }},
      {"--optimization",
       [&](const std::string& value) { settings.optimization = parse_optimization(value); }},
  };
}

}  // namespace
}  // namespace torch_ir

int main(int argc, char** argv) {
  if (const auto status = torch_ir::run_as_child(argc, argv)) return *status;
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    try {
      torch_ir::take_flag(argv[i], torch_ir::flags());
      continue;
    } catch (const std::exception& error) {
      std::cerr << argv[i] << ": " << error.what() << '\n';
    }
    return 2;
  }
  return RUN_ALL_TESTS();
}
