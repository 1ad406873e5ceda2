// The main program of tests made by //harness:defs.bzl, their update targets, and the tests of
// //models/operators.
//
// Flags choose what to test: registered models (exactly one with --model), an archive (--pt2), or
// operator cases (--suite=operators). Everything runs once through the pipeline and leaves pages
// and graphs in TEST_UNDECLARED_OUTPUTS_DIR. One model may have golden files; --update writes them
// to the workspace instead of testing.

#include <ATen/TensorOperators.h>
#include <ATen/ops/_int_mm.h>
#include <ATen/ops/full.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/arguments.h"
#include "harness/harness.h"
#include "harness/regression/reference_pages.h"
#include "harness/report/markup.h"
#include "harness/run/run_as_child.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/options.h"
#include "torch_ir/registry/operator_case.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

struct BuildLine {
  HarnessOptions options = {};
  std::string model = {};
  std::vector<std::string> categories = {};
  std::string golden = {};
  std::string golden_page = {};
  std::string target = {};
  bool update = false;

  bool is_of_operators() const { return options.coverage.selection.suite == Suite::kOperators; }
  bool is_of_an_archive() const { return !options.coverage.files.empty(); }
};

BuildLine& build_line() {
  static BuildLine line;
  return line;
}

constexpr const char* kArchive = "archive";

std::vector<std::string> names_of_tests() {
  const BuildLine& line = build_line();
  if (line.is_of_an_archive()) return {kArchive};
  if (!line.model.empty()) return {line.model};
  std::set<std::string> names;
  if (line.is_of_operators()) {
    for (const OperatorCase& it :
         select_cases(list_operator_cases(), line.options.coverage.selection)) {
      names.insert(it.op_type);
    }
  } else {
    for (const RegisteredModel& model : list_models()) names.insert(model.name);
  }
  return {names.begin(), names.end()};
}

// LibTorch's product of int8 saturates on processors without instructions for it.
constexpr const char* kInexactInt8 = "LibTorch multiplies int8 inexactly on this processor: ";

bool multiplies_int8_inexactly(const Result& result) {
  const auto summary = result.graph_summary();
  const auto is_product = [](const auto& op) { return op.first.ends_with("._int_mm.default"); };
  if (!summary || std::ranges::none_of(summary->figures.op_distribution, is_product)) return false;
  const at::Tensor most = at::full({32, 32}, 127, at::kChar);
  return !at::_int_mm(most, most).eq(32 * 127 * 127).all().item<bool>();
}

std::string problem_of(const Result& result) {
  if (result.is_good()) return "";
  if (result.failure && multiplies_int8_inexactly(result)) {
    return kInexactInt8 + result.failure->message;
  }
  if (result.failure) return result.failure->message + '\n' + result.failure->output;
  return result.name + " passes but is expected to fail: " + result.expected_failure->reason;
}

struct Outcome {
  // Empty if the test passes.
  std::string problem = {};
  std::vector<std::string> categories = {};
};

// Returns the outcomes by test.
std::map<std::string, Outcome> run_tests_in(const std::string& directory,
                                            const std::vector<std::string>& names) {
  const BuildLine& line = build_line();
  HarnessOptions options = line.options;
  options.context.output = directory;
  if (line.is_of_operators()) {
    options.coverage.selection.operators = names;
  } else if (!line.is_of_an_archive()) {
    options.coverage.selection.models = names;
  }
  const HarnessRun run = run_harness(options, {.lines = &std::cout});
  std::map<std::string, Outcome> outcomes;
  const auto outcome_of = [&](const Result& result, const std::string& test) -> Outcome& {
    Outcome& outcome = outcomes[test];
    outcome.categories = result.categories;
    return outcome;
  };
  for (const Result& result : run.results) {
    outcome_of(result, line.is_of_an_archive() ? kArchive : result.name).problem =
        problem_of(result);
  }
  for (const Result& result : run.cases) {
    std::string& problem = outcome_of(result, result.call->op_type).problem;
    if (result.passed()) continue;
    problem +=
        result.name + " " + std::string(outcome_name(result)) + ": " + result.reason() + "\n";
  }
  return outcomes;
}

struct Golden {
  std::string path;
  std::string written;
  std::string (*difference)(const std::string& golden, const std::string& now);
};

std::vector<Golden> goldens(const std::string& directory) {
  const BuildLine& line = build_line();
  std::vector<Golden> all;
  if (!line.golden.empty()) {
    const std::string graph = read_file(directory + "/ir/" + line.model + ".json");
    all.push_back({line.golden, graph, graph_difference});
  }
  if (!line.golden_page.empty()) {
    const std::string page = read_file(directory + "/" + line.model + ".md");
    all.push_back({line.golden_page, page, page_difference});
  }
  return all;
}

std::string report_directory() {
  const char* outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  return outputs != nullptr ? outputs
                            : (fs::temp_directory_path() / "torch_ir_model_test").string();
}

// Runs all tests of this shard at once, since one process can handle many of them.
class RunAll : public ::testing::Environment {
 public:
  void SetUp() override {
    std::vector<std::string> names;
    const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
      const ::testing::TestSuite& suite = *all.GetTestSuite(i);
      if (suite.name() != std::string_view("Passes")) continue;
      for (int k = 0; k < suite.total_test_count(); ++k) {
        if (suite.GetTestInfo(k)->should_run()) names.push_back(suite.GetTestInfo(k)->name());
      }
    }
    if (names.empty()) return;
    try {
      outcomes() = run_tests_in(report_directory(), names);
    } catch (const std::exception& error) {
      for (const std::string& name : names) outcomes()[name].problem = error.what();
    }
  }

  static std::map<std::string, Outcome>& outcomes() {
    static std::map<std::string, Outcome> outcomes;
    return outcomes;
  }
};

class PassesTest : public ::testing::Test {
 public:
  explicit PassesTest(std::string name) : name_(std::move(name)) {}

  void TestBody() override {
    const std::string& problem = RunAll::outcomes().at(name_).problem;
    // LibTorch cannot multiply float8 on every processor.
    const auto says = [&](const char* text) { return problem.find(text) != problem.npos; };
    if (says("_scaled_mm") && says("could not create a primitive")) GTEST_SKIP() << problem;
    if (says(kInexactInt8)) GTEST_SKIP() << problem;
    if (!problem.empty()) FAIL() << problem;
    const std::string update = "tools/bazel run " + build_line().target + ".update";
    for (const Golden& golden : goldens(report_directory())) {
      if (!fs::exists(golden.path)) {
        ADD_FAILURE() << golden.path << " is not there yet; to write it, run: " << update;
        continue;
      }
      const std::string difference = golden.difference(read_file(golden.path), golden.written);
      if (difference.empty()) continue;
      ADD_FAILURE() << golden.path
                    << " differs from the harness's output; if the new output is right, run: "
                    << update << '\n'
                    << difference;
    }
  }

 private:
  std::string name_;
};

void expect_categories(const std::string& subject, const std::vector<std::string>& registered,
                       const std::vector<std::string>& built) {
  if (registered == built) return;
  ADD_FAILURE() << fmt::format("{} registered with the categories [{}]; the BUILD file has [{}]",
                               subject, fmt::join(registered, ", "), fmt::join(built, ", "));
}

TEST(ModelTest, IsRegisteredAsItsBuildLineSays) {
  const BuildLine& line = build_line();
  if (line.is_of_an_archive() || line.is_of_operators()) return;
  const std::vector<RegisteredModel> models = list_models();
  if (line.model.empty()) {
    if (models.empty()) {
      FAIL() << "the libraries of this test register no model; check that they have "
                "alwayslink = True";
    }
    const std::set<std::string> categories(line.categories.begin(), line.categories.end());
    expect_categories("the models are", list_categories(), {categories.begin(), categories.end()});
    return;
  }
  const auto model = std::ranges::find(models, line.model, &RegisteredModel::name);
  if (model == models.end()) {
    FAIL() << "the libraries of this test do not register " << line.model
           << "; check that they have alwayslink = True";
  }
  expect_categories(line.model + " is", model->spec.categories, line.categories);
}

// Writes the XML that Bazel asks for. GoogleTest's starts a failure with a line of this file, has
// the time of the comparison alone, and no categories.
class JunitWriter : public ::testing::EmptyTestEventListener {
 public:
  explicit JunitWriter(std::string path) : path_(std::move(path)) {}

  void OnTestProgramEnd(const ::testing::UnitTest& all) override {
    std::string cases;
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
      const ::testing::TestSuite& suite = *all.GetTestSuite(i);
      for (int k = 0; k < suite.total_test_count(); ++k) {
        if (suite.GetTestInfo(k)->should_run()) cases += test_case(*suite.GetTestInfo(k));
      }
    }
    write_file(path_,
               fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                           "<testsuites>\n"
                           "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n"
                           "{}"
                           "  </testsuite>\n"
                           "</testsuites>\n",
                           xml_attribute(build_line().target), all.test_to_run_count(),
                           all.failed_test_count(), all.skipped_test_count(), cases));
  }

 private:
  static std::string test_case(const ::testing::TestInfo& test) {
    const auto found = RunAll::outcomes().find(test.name());
    const Outcome outcome = found == RunAll::outcomes().end() ? Outcome() : found->second;
    std::string text = fmt::format("    <testcase classname=\"{}\" name=\"{}\">\n",
                                   test.test_suite_name(), xml_attribute(test.name()));
    std::string properties;
    for (const std::string& category : outcome.categories) {
      properties +=
          fmt::format("<property name=\"category\" value=\"{}\"/>", xml_attribute(category));
    }
    if (!properties.empty()) text += fmt::format("      <properties>{}</properties>\n", properties);
    const ::testing::TestResult& result = *test.result();
    for (int i = 0; i < result.total_part_count(); ++i) {
      std::string message = result.GetTestPartResult(i).message();
      // What FAIL() and GTEST_SKIP() say by themselves.
      for (const std::string_view start : {"Failed\n", "Skipped\n"}) {
        if (message.starts_with(start)) message.erase(0, start.size());
      }
      const std::string_view tag = result.GetTestPartResult(i).skipped() ? "skipped" : "failure";
      text += fmt::format("      <{0} message=\"{1}\">{2}</{0}>\n", tag,
                          xml_attribute(message.substr(0, message.find('\n'))), xml_text(message));
    }
    return text + "    </testcase>\n";
  }

  const std::string path_;
};

int update_goldens() {
  const BuildLine& line = build_line();
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr)
    throw Error("run this program with: tools/bazel run " + line.target + ".update");
  const std::string directory = ::testing::TempDir() + "torch_ir_update." + line.model;
  const std::string problem = run_tests_in(directory, {line.model}).at(line.model).problem;
  if (!problem.empty()) throw Error(problem);
  for (const Golden& golden : goldens(directory)) {
    const fs::path path = fs::path(workspace) / golden.path;
    fs::create_directories(path.parent_path());
    write_file(path, golden.written);
    std::cout << "wrote " << golden.path << '\n';
  }
  fs::remove_all(directory);
  return 0;
}

void parse_flags(int argc, char** argv) {
  BuildLine& line = build_line();
  CLI::App parser;
  Arguments arguments;
  declare_arguments(parser, arguments);
  parser.add_option("--categories", line.categories)->delimiter(',');
  std::string inputs;
  std::string expected;
  parser.add_option("--inputs", inputs);
  parser.add_option("--expected", expected);
  parser.add_option("--golden", line.golden);
  parser.add_option("--golden-page", line.golden_page);
  parser.add_option("--target", line.target);
  parser.add_flag("--update", line.update);
  parse_arguments(parser, {argv + 1, argv + argc});
  finish_arguments(parser, arguments);
  line.options = arguments.harness;
  for (ModelFiles& files : line.options.coverage.files) {
    if (!inputs.empty()) files.inputs = {user_path(inputs)};
    if (!expected.empty()) files.expected = {user_path(expected)};
  }
  line.options.summary = line.is_of_operators();
  for (const std::string& model : line.options.coverage.selection.models) line.model = model;
}

int run(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  parse_flags(argc, argv);
  if (build_line().update) return update_goldens();
  RunSettings& settings = build_line().options.run.settings;
  // At level exact, operators must match eager bit for bit; at level fast, float64 is not
  // consulted.
  if (build_line().is_of_operators()) settings.criterion = {};
  if (build_line().is_of_operators() && settings.optimization == Optimization::kExact) {
    settings.tolerance = {.fixed = kExactTolerance};
    settings.tolerance_wins = true;
  }
  for (const std::string& name : names_of_tests()) {
    ::testing::RegisterTest("Passes", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [name]() -> PassesTest* { return new PassesTest(name); });
  }
  ::testing::AddGlobalTestEnvironment(new RunAll());
  if (const char* path = std::getenv("XML_OUTPUT_FILE")) {
    ::testing::TestEventListeners& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_xml_generator());
    listeners.Append(new JunitWriter(path));
  }
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
