// The test that torch_ir_pt2_test makes: the archive of --pt2 goes through the pipeline, with the
// tensors of --inputs and --expected where they are given, and its page and IR are left in
// TEST_UNDECLARED_OUTPUTS_DIR.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/harness.h"
#include "harness/run/runner.h"
#include "torch_ir/executor/graph/execution_options.h"

namespace torch_ir {
namespace {

HarnessOptions& options() {
  static HarnessOptions options{.files = {{}}, .summary = false};
  return options;
}

TEST(Pt2Test, Passes) {
  const char* outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  options().output = outputs != nullptr ? outputs : ::testing::TempDir() + "pt2_test";
  const std::vector<ModelResult> results = run_harness(options(), {.lines = &std::cout}).results;
  ASSERT_EQ(results.size(), 1u);
  EXPECT_TRUE(results[0].passed()) << results[0].failure->message << '\n'
                                   << results[0].failure->output;
}

// Takes one --FLAG=VALUE. Throws where the value is no number and has to be one.
bool parse(std::string_view argument) {
  ModelFilesArgument& archive = options().files.front();
  RunSettings& settings = options().run.settings;
  Tolerance& tolerance = settings.tolerance.fixed;
  const std::map<std::string_view, std::function<void(const std::string&)>> flags = {
      {"--pt2", [&](const std::string& value) { archive.path = value; }},
      {"--inputs", [&](const std::string& value) { archive.inputs = value; }},
      {"--expected", [&](const std::string& value) { archive.expected = value; }},
      {"--rtol", [&](const std::string& value) { tolerance.rtol = std::stod(value); }},
      {"--atol", [&](const std::string& value) { tolerance.atol = std::stod(value); }},
      {"--optimization",
       [&](const std::string& value) { settings.optimization = parse_optimization(value); }},
  };
  const size_t equals = argument.find('=');
  const auto flag = flags.find(argument.substr(0, equals));
  if (equals == std::string_view::npos || flag == flags.end()) return false;
  flag->second(std::string(argument.substr(equals + 1)));
  return true;
}

}  // namespace
}  // namespace torch_ir

int main(int argc, char** argv) {
  if (const auto status = torch_ir::run_as_child(argc, argv)) return *status;
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    try {
      if (torch_ir::parse(argv[i])) continue;
      std::cerr << "unknown argument " << argv[i] << '\n';
    } catch (const std::exception& error) {
      std::cerr << argv[i] << ": " << error.what() << '\n';
    }
    return 2;
  }
  return RUN_ALL_TESTS();
}
