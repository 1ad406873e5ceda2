// The tests of //models/operators: the cases of a category, a test an operator, which Bazel spreads
// over shards. At level exact they have to be the bits of eager, at level fast within tolerance.
// The page is left in TEST_UNDECLARED_OUTPUTS_DIR.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/harness.h"
#include "harness/regression/test_flags.h"
#include "harness/run/runner.h"
#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/registry/operator_case.h"

namespace torch_ir {
namespace {

constexpr const char* kTestSuite = "Operators";

HarnessOptions& options() {
  static HarnessOptions options{.selection = {.suite = Suite::kOperators}};
  return options;
}

// Those that the tests of the package are of.
std::vector<std::string>& expected_categories() {
  static std::vector<std::string> categories;
  return categories;
}

// By operator, what did not pass.
std::map<std::string, std::string>& problems() {
  static std::map<std::string, std::string> problems;
  return problems;
}

std::string problem_text(const ModelResult& result) {
  return result.name + " " + std::string(outcome_name(result)) + ": " +
         result.reason() + "\n";
}

// The operators of the tests that this shard runs.
std::vector<std::string> operators_to_run() {
  std::vector<std::string> operators;
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(i);
    if (std::string_view(suite.name()) != kTestSuite) continue;
    for (int k = 0; k < suite.total_test_count(); ++k) {
      if (suite.GetTestInfo(k)->should_run()) operators.push_back(suite.GetTestInfo(k)->name());
    }
  }
  return operators;
}

// All cases at once: a process takes many.
class RunCases : public ::testing::Environment {
 public:
  void SetUp() override {
    options().output = report_directory("operators_test");
    options().selection.operators = operators_to_run();
    if (options().selection.operators.empty()) return;
    for (const ModelResult& result : run_harness(options(), {.lines = &std::cout}).cases) {
      std::string& problem = problems()[result.call->op_type];
      if (!result.passed()) problem += problem_text(result);
    }
  }
};

class OperatorTest : public ::testing::Test {
 public:
  explicit OperatorTest(std::string op_type) : op_type_(std::move(op_type)) {}

  void TestBody() override { EXPECT_EQ(problems().at(op_type_), ""); }

 private:
  std::string op_type_;
};

TEST(OperatorsTest, HaveTheCategoriesOfTheirTests) {
  EXPECT_THAT(categories_of(list_operator_cases()),
              ::testing::ElementsAreArray(expected_categories()));
}

TestFlags flags() {
  HarnessOptions& all = options();
  return {
      {"--category", [&](const std::string& value) { all.selection.categories = {value}; }},
      {"--categories", [](const std::string& value) { expected_categories() = items_of(value); }},
      {"--optimization",
       [&](const std::string& value) {
         all.run.settings.optimization = parse_optimization(value);
       }},
  };
}

int run(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) take_flag(argv[i], flags());
  if (options().run.settings.optimization == Optimization::kExact) {
    options().run.settings.tolerance = {.fixed = kExactTolerance};
    options().run.settings.tolerance_wins = true;
  }
  std::set<std::string> operators;
  for (const OperatorCase& it : select_cases(list_operator_cases(), options().selection)) {
    operators.insert(it.op_type);
  }
  for (const std::string& op_type : operators) {
    ::testing::RegisterTest(kTestSuite, op_type.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [op_type]() -> OperatorTest* { return new OperatorTest(op_type); });
  }
  ::testing::AddGlobalTestEnvironment(new RunCases());
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace torch_ir

int main(int argc, char** argv) {
  if (const auto status = torch_ir::run_as_child(argc, argv)) return *status;
  try {
    return torch_ir::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
