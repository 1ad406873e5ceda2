#include "harness/suite/run_cases.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/tanh.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>

#include "harness/backend/backend.h"
#include "harness/suite/make_suite.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/operators/executor_registry.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

OperatorCase unary(const std::string& name) {
  return {.op_type = "aten." + name + ".default",
          .variant = "usual",
          .category = "test",
          .arguments = [] { return std::vector<c10::IValue>{at::arange(1, 5, at::kFloat)}; }};
}

OperatorCase without_values() {
  return {.op_type = "aten.empty_like.default",
          .variant = "usual",
          .category = "test",
          .arguments =
              [] {
                return std::vector<c10::IValue>{at::ones({3}), c10::IValue(), c10::IValue(),
                                                c10::IValue(), c10::IValue(), c10::IValue()};
              },
          .property = CaseProperty::kShape};
}

const bool registered_cases = register_operator_cases([] {
  return std::vector<OperatorCase>{without_values(), unary("abs"), unary("cos"),  unary("exp"),
                                   unary("log"),     unary("neg"), unary("relu"), unary("sin"),
                                   unary("sqrt"),    unary("tanh")};
});

// tanh, which is another function from the second call on where the environment asks for it.
const bool registered_tanh = [] {
  register_executor("aten.tanh.default", [](const OpNode&, const std::vector<at::Tensor>& inputs) {
    static int calls = 0;
    const bool is_wrong = ++calls > 1 && std::getenv("WRONG_AGAIN") != nullptr;
    return std::vector<at::Tensor>{is_wrong ? inputs[0].sin() : inputs[0].tanh()};
  });
  return true;
}();

// Goes wrong in a way of its own for each operator.
class Faulty : public Backend {
 public:
  explicit Faulty(const BackendOptions& options) : plans_(options.execution) {}

  std::vector<at::Tensor> run(const IR& ir, const StateDict& weights,
                              const std::vector<at::Tensor>& inputs) override {
    const std::string& op_type = ir.nodes.at(0).op_type;
    if (op_type == "aten.cos.default") {
      std::fputs("no room on the chip\n", stderr);
      std::abort();
    }
    if (op_type == "aten.exp.default") throw ExecutionError("the chip is on fire");
    if (op_type == "aten.log.default") throw Error(kNotSupported, "no logarithms here");
    if (op_type == "aten.neg.default") ::pause();
    if (op_type == "aten.relu.default") return {at::ones({4})};
    if (op_type == "aten.sin.default") return {at::ones({5})};
    if (op_type == "aten.sqrt.default") throw std::bad_alloc();
    return plans_.run(ir, weights, inputs);
  }

 private:
  PlanBackend plans_;
};

const bool registered_faulty = register_backend(
    "faulty", [](const BackendOptions& options) { return std::make_unique<Faulty>(options); });

std::vector<CaseSource> all_cases() {
  std::vector<CaseSource> sources;
  for (const OperatorCase& it : list_operator_cases()) sources.push_back({.info = info_of(it)});
  return sources;
}

class RunCasesTest : public ::testing::Test {
 protected:
  RunCasesTest() { fs::remove_all(directory_); }

  std::vector<ModelResult> run(const CaseRunOptions& options) const {
    return run_cases(all_cases(), options, directory_, [](size_t) {});
  }

  const std::string directory_ = ::testing::TempDir() + "run_cases_test";
};

std::vector<CaseStatus> statuses_of(const std::vector<ModelResult>& results) {
  std::vector<CaseStatus> statuses;
  for (const ModelResult& result : results) statuses.push_back(result.status);
  return statuses;
}

TEST_F(RunCasesTest, PassOnPlansOfThisLibrary) {
  for (const int jobs : {1, 3}) {
    for (const ModelResult& result : run({.jobs = jobs})) {
      EXPECT_TRUE(result.passed()) << result.info.name << ": " << result.message;
      EXPECT_EQ(result.max_diff, 0);
    }
  }
}

TEST_F(RunCasesTest, CostThemselvesOnly) {
  CaseRunOptions options{.jobs = 2, .timeout = std::chrono::seconds(5)};
  options.settings.backend = "faulty";
  const std::vector<ModelResult> results = run(options);
  EXPECT_THAT(statuses_of(results),
              ElementsAre(CaseStatus::kPassed, CaseStatus::kCrashed, CaseStatus::kPassed,
                          CaseStatus::kFailed, CaseStatus::kUnsupported, CaseStatus::kTimedOut,
                          CaseStatus::kDiffers, CaseStatus::kDiffers, CaseStatus::kOutOfMemory,
                          CaseStatus::kPassed));
  EXPECT_EQ(results[1].message,
            "The process of the case was killed by signal 6 (Aborted); it printed: no room on the "
            "chip");
  EXPECT_EQ(results[3].message, "the chip is on fire");
  EXPECT_EQ(results[4].message, "no logarithms here");
  EXPECT_EQ(results[5].message, "The process of the case was stopped after 5 s, the time limit");
  EXPECT_THAT(results[6].message, HasSubstr("3 of 4 element(s) differ"));
  EXPECT_EQ(results[6].max_diff, 3);
  EXPECT_THAT(results[7].message, HasSubstr("shape"));
}

// Replays are judged too.
TEST_F(RunCasesTest, FailWhereTheSecondRunDiffers) {
  ::setenv("WRONG_AGAIN", "1", /*overwrite=*/1);
  const std::vector<ModelResult> results = run({});
  ::unsetenv("WRONG_AGAIN");
  EXPECT_EQ(results[1].status, CaseStatus::kPassed);
  EXPECT_EQ(results[9].status, CaseStatus::kDiffers);
  EXPECT_THAT(results[9].message, StartsWith("in its second run: "));
}

TEST_F(RunCasesTest, AreTheSameFromFiles) {
  SuiteRequest request{.output = directory_ + "/files", .what = "tests"};
  for (const CaseSource& source : all_cases()) request.operator_cases.push_back(source.info.name);
  EXPECT_THAT(make_suite(request, directory_), IsEmpty());
  std::vector<CaseSource> sources;
  for (const CaseInfo& info : read_suite(request.output)) {
    sources.push_back({.info = info, .folder = case_folder(request.output, info.name)});
  }
  ASSERT_EQ(sources.size(), all_cases().size());
  CaseRunOptions options;
  options.settings.tolerance = {.fixed = kExactTolerance};
  options.settings.tolerance_wins = true;
  for (const ModelResult& result : run_cases(sources, options, directory_, [](size_t) {})) {
    EXPECT_TRUE(result.passed()) << result.info.name << ": " << result.message;
  }
}

TEST_F(RunCasesTest, FailWhereTheirFilesAreBroken) {
  SuiteRequest request{.output = directory_ + "/files", .what = "tests"};
  request.operator_cases = {"aten.abs.default/float32/usual"};
  make_suite(request, directory_);
  const std::string folder = case_folder(request.output, request.operator_cases[0]);
  write_file(folder + "/inputs.safetensors", "no tensors");
  const std::vector<ModelResult> results = run_cases(
      {{.info = read_suite(request.output)[0], .folder = folder}}, {}, directory_, [](size_t) {});
  EXPECT_EQ(results[0].status, CaseStatus::kFailed);
  EXPECT_THAT(results[0].message, HasSubstr("inputs.safetensors"));
}

TEST_F(RunCasesTest, LeaveNoFilesBehind) {
  run({});
  EXPECT_TRUE(fs::is_empty(directory_));
}

}  // namespace
}  // namespace torch_ir
