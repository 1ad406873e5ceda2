// The test that torch_ir_model_test makes, and its update target.
//
// Models that the program registers go through the pipeline, a test case each, and leave their
// pages and graphs in TEST_UNDECLARED_OUTPUTS_DIR. With --model it is exactly that one, which may
// have golden files; --update, in place of the tests, writes these into the user's workspace.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/harness.h"
#include "harness/regression/golden.h"
#include "harness/regression/reference_pages.h"
#include "harness/regression/test_flags.h"
#include "harness/run/runner.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

struct BuildLine {
  // Empty for all models that the program registers.
  std::string model = {};
  std::vector<std::string> categories = {};
  Optimization optimization = Optimization::kExact;
  // Paths in the workspace, empty where there is none.
  std::string golden = {};
  std::string golden_page = {};
  std::string target = {};
  bool update = false;
};

BuildLine& build_line() {
  static BuildLine line;
  return line;
}

ModelResult run_model_in(const std::string& directory, const std::string& model) {
  HarnessOptions options;
  options.output = directory;
  options.selection.models = {model};
  options.summary = false;
  options.portable = !build_line().golden_page.empty();
  options.run.settings.optimization = build_line().optimization;
  return run_harness(options, {.lines = &std::cout}).results[0];
}

std::string failure_text(const ModelResult& result) {
  if (result.failure) return result.failure->message + '\n' + result.failure->output;
  return result.name + " passes, and is registered as failing: " + result.expected_failure->reason;
}

std::string graph_path(const std::string& directory) {
  return directory + "/ir/" + build_line().model + ".json";
}

std::string page_path(const std::string& directory) {
  return directory + "/" + build_line().model + ".md";
}

std::string update_hint(const std::string& golden) {
  return golden +
         " is not what the harness writes now; when the difference is right, run: " + "bazel run " +
         build_line().target + ".update";
}

class PassesTest : public ::testing::Test {
 public:
  explicit PassesTest(std::string model) : model_(std::move(model)) {}

  void TestBody() override {
    const std::string directory = report_directory("torch_ir_model_test");
    const ModelResult result = run_model_in(directory, model_);
    EXPECT_TRUE(result.is_good()) << failure_text(result);
    if (const std::string& golden = build_line().golden; !golden.empty()) {
      const std::string difference =
          graph_difference(read_file(golden), read_file(graph_path(directory)));
      EXPECT_TRUE(difference.empty()) << update_hint(golden) << '\n' << difference;
    }
    if (const std::string& golden = build_line().golden_page; !golden.empty()) {
      const std::string difference =
          page_difference(read_file(golden), read_file(page_path(directory)));
      EXPECT_TRUE(difference.empty()) << update_hint(golden) << '\n' << difference;
    }
  }

 private:
  std::string model_;
};

TEST(ModelTest, IsRegisteredAsItsBuildLineSays) {
  const std::vector<RegisteredModel> models = list_models();
  const BuildLine& line = build_line();
  if (line.model.empty()) {
    ASSERT_FALSE(models.empty()) << "the libraries of this test register no model; do they have "
                                    "alwayslink = True?";
    const std::set<std::string> categories(line.categories.begin(), line.categories.end());
    EXPECT_THAT(list_categories(), ::testing::ElementsAreArray(categories));
    return;
  }
  const auto model = std::ranges::find(models, line.model, &RegisteredModel::name);
  ASSERT_NE(model, models.end()) << "the libraries of this test do not register it; do they have "
                                    "alwayslink = True?";
  EXPECT_EQ(model->spec.categories, line.categories);
}

void register_tests() {
  std::vector<std::string> names;
  if (!build_line().model.empty()) {
    names = {build_line().model};
  } else {
    for (const RegisteredModel& model : list_models()) names.push_back(model.name);
  }
  for (const std::string& name : names) {
    ::testing::RegisterTest("Passes", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [name]() -> PassesTest* { return new PassesTest(name); });
  }
}

void update_file(const fs::path& workspace, const std::string& golden, const std::string& content) {
  fs::create_directories((workspace / golden).parent_path());
  write_file(workspace / golden, content);
  std::cout << "wrote " << golden << '\n';
}

int update_goldens() {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    throw Error("run me with: bazel run " + build_line().target + ".update");
  }
  const std::string directory = ::testing::TempDir() + "torch_ir_update." + build_line().model;
  const ModelResult result = run_model_in(directory, build_line().model);
  if (!result.is_good()) throw Error(failure_text(result));
  if (const std::string& golden = build_line().golden; !golden.empty()) {
    update_file(workspace, golden, portable_graph(read_file(graph_path(directory))));
  }
  if (const std::string& golden = build_line().golden_page; !golden.empty()) {
    update_file(workspace, golden, read_file(page_path(directory)));
  }
  fs::remove_all(directory);
  return 0;
}

TestFlags flags() {
  BuildLine& line = build_line();
  return {
      {"--categories", [&](const std::string& value) { line.categories = items_of(value); }},
      {"--golden", [&](const std::string& value) { line.golden = value; }},
      {"--golden-page", [&](const std::string& value) { line.golden_page = value; }},
      {"--model", [&](const std::string& value) { line.model = value; }},
      {"--optimization",
       [&](const std::string& value) { line.optimization = choose_optimization(value); }},
      {"--target", [&](const std::string& value) { line.target = value; }},
  };
}

int run(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (argv[i] == std::string_view("--update")) {
      build_line().update = true;
    } else {
      take_flag(argv[i], flags());
    }
  }
  if (build_line().update) return update_goldens();
  register_tests();
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
