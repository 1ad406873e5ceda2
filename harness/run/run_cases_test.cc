
// Tests single calls in workers, and suites of them in files.

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
#include "harness/run/make_suite.h"
#include "harness/run/runner.h"
#include "harness/stages/candidate.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/operators/op_handler_registry.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
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

// tanh, which becomes another function from the second call on if the environment asks for it.
const bool registered_tanh = [] {
  register_executor("aten.tanh.default", [](const OpNode&, const std::vector<at::Tensor>& inputs) {
    static int calls = 0;
    const bool is_wrong = ++calls > 1 && std::getenv("WRONG_AGAIN") != nullptr;
    return std::vector<at::Tensor>{is_wrong ? inputs[0].sin() : inputs[0].tanh()};
  });
  return true;
}();

// Fails in a different way for each operator.
class Faulty : public Backend {
 public:
  explicit Faulty(const BackendOptions& options) : plans_(options.execution) {}

  std::vector<at::Tensor> run(const Case& graph_case) override {
    const std::string& op_type = graph_case.program->nodes.at(0).target;
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
    return plans_.run(graph_case);
  }

 private:
  PlanBackend plans_;
};

const bool registered_faulty = register_backend(
    "faulty", [](const BackendOptions& options) { return std::make_unique<Faulty>(options); });

std::vector<ModelSource> all_cases() {
  std::vector<ModelSource> sources;
  for (const OperatorCase& it : list_operator_cases()) {
    sources.push_back(CaseSource{.info = info_of(it)});
  }
  return sources;
}

TEST(CaseCandidateTest, OutputsOfAnotherDtypeAreComparedAsTheyAre) {
  const OperatorCase empty = find_operator_case("aten.empty_like.default/float32/usual");
  const auto candidate = make_candidate(CaseSource{.info = info_of(empty)}, RunSettings());
  candidate->extract();
  const std::vector<at::Tensor> expected = candidate->expected(0, {});
  const std::vector<at::Tensor> booleans = {at::ones({3}, at::kBool)};
  // If only shapes are compared, any values are right.
  const auto [shapes, expected_shapes] = candidate->compared({at::arange(3, at::kFloat)}, expected);
  EXPECT_TRUE(shapes.at(0).equal(expected_shapes.at(0)));
  const auto [outputs, raw] = candidate->compared(booleans, expected);
  EXPECT_TRUE(outputs.at(0).is_same(booleans[0]));
  EXPECT_TRUE(raw.at(0).is_same(expected.at(0)));
}

class RunCasesTest : public ::testing::Test {
 protected:
  RunCasesTest() { fs::remove_all(directory_); }

  std::vector<Result> run(const RunOptions& options) const {
    return run_candidates(all_cases(), options, directory_);
  }

  const std::string directory_ = ::testing::TempDir() + "run_cases_test";
  const std::string files_ = directory_ + "/files";
};

std::vector<std::string_view> outcomes_of(const std::vector<Result>& results) {
  std::vector<std::string_view> outcomes;
  for (const Result& result : results) outcomes.push_back(outcome_name(result));
  return outcomes;
}

// Replays are compared, too.
TEST_F(RunCasesTest, PassUnlessTheirSecondRunDiffersAndLeaveNoFilesBehind) {
  ::setenv("WRONG_AGAIN", "1", /*overwrite=*/1);
  std::vector<Result> results = run({.jobs = 3});
  ::unsetenv("WRONG_AGAIN");
  EXPECT_EQ(outcome_name(results.at(9)), "differs");
  EXPECT_THAT(results[9].reason(), StartsWith("in its second run: "));
  results.pop_back();
  for (const Result& result : results) {
    EXPECT_TRUE(result.passed()) << result.name << ": " << result.reason();
    EXPECT_EQ(result.metrics.max_diff, 0);
  }
  EXPECT_TRUE(fs::is_empty(directory_));
}

// They are no steps, also those of a model that runs in steps.
TEST_F(RunCasesTest, CostThemselvesOnly) {
  const std::vector<Result> results =
      run({.settings = {.steps = 3, .carry = {"output=input"}, .backend = "faulty"},
           .jobs = 2,
           .timeout = std::chrono::seconds(3)});
  EXPECT_THAT(outcomes_of(results),
              ElementsAre("passed", "crashed", "passed", "failed", "unsupported", "timed out",
                          "differs", "differs", "out of memory", "passed"));
  EXPECT_EQ(results[1].reason(),
            "The process of the case was killed by signal 6 (Aborted); it printed: no room on the "
            "chip");
  EXPECT_EQ(results[3].reason(), "the chip is on fire");
  EXPECT_EQ(results[4].reason(), "no logarithms here");
  EXPECT_EQ(results[5].reason(), "The process of the case exceeded the time limit of 3 s");
  EXPECT_EQ(results[5].failure->stage, Stage::kExecute);
  EXPECT_THAT(results[6].reason(), HasSubstr("3 of 4 elements mismatched"));
  EXPECT_EQ(results[6].metrics.max_diff, 3);
  EXPECT_THAT(results[7].reason(), HasSubstr("shape"));
}

// The limits of a case apply to its server, too. The next worker starts it again.
TEST_F(RunCasesTest, CostThemselvesOnlyOnAServer) {
  const std::string server =
      "while read -r line; do case \"$line\" in\n"
      "*aten.cos.*) echo no room >&2; exit 1;;\n"
      "*aten.exp.*) echo hello;;\n"
      "*aten.neg.*) sleep 600;;\n"
      "*) echo '{\"status\": \"unsupported\", \"message\": \"not here\"}';;\n"
      "esac; done";
  const std::vector<Result> results =
      run({.settings = {.executor = server, .executor_is_server = true},
           .timeout = std::chrono::seconds(3)});
  EXPECT_THAT(outcomes_of(results),
              ElementsAre("unsupported", "crashed", "unsupported", "failed", "unsupported",
                          "timed out", "unsupported", "unsupported", "unsupported", "unsupported"));
  EXPECT_EQ(results[1].reason(),
            "The executor exited with status 1 without an answer (a command without {ir} is run as "
            "a server); it printed: no room");
  EXPECT_THAT(results[3].reason(), StartsWith("The executor gave the invalid answer 'hello': "));
  EXPECT_EQ(results[5].reason(),
            "The process of the case exceeded the time limit of 3 s (a command without {ir} is run "
            "as a server)");
  EXPECT_EQ(results[7].reason(), "The executor does not support the graph: not here");
}

// However long it takes to fill the memory.
TEST_F(RunCasesTest, AreEndedWhereTheirServerTakesTooMuchMemory) {
  const std::string server =
      "while read -r line; do { head -c 2000000000 /dev/zero; sleep 600; } | tail > /dev/null; "
      "done";
  const RunOptions options{.settings = {.executor = server, .executor_is_server = true},
                           .timeout = std::chrono::minutes(10),
                           .memory_limit = 1'000'000'000};
  const std::vector<Result> results = run_candidates(
      {CaseSource{.info = info_of(find_operator_case("aten.relu.default/float32/usual"))}}, options,
      directory_);
  EXPECT_THAT(outcomes_of(results), ElementsAre("out of memory"));
  EXPECT_EQ(results[0].reason(), "The process of the case exceeded the memory limit of 1000 MB");
}

TEST_F(RunCasesTest, AreTheSameFromFilesAndFailWhereThoseAreBroken) {
  make_suite({.output = files_, .content = "tests", .candidates = all_cases()}, {});
  std::vector<ModelSource> sources;
  for (const CaseInfo& info : read_suite(files_)) {
    sources.push_back(CaseSource{.info = info, .folder = case_folder(files_, info.name)});
  }
  ASSERT_EQ(sources.size(), all_cases().size());
  write_file(std::get<CaseSource>(sources[1]).folder + "/inputs.safetensors", "no tensors");
  const RunSettings exact{
      .tolerance = {.fixed = kExactTolerance}, .tolerance_wins = true, .criterion = {}};
  std::vector<Result> results = run_candidates(sources, {.settings = exact}, directory_);
  EXPECT_EQ(outcome_name(results[1]), "failed");
  EXPECT_THAT(results[1].reason(), HasSubstr("inputs.safetensors"));
  results.erase(results.begin() + 1);
  for (const Result& result : results) {
    EXPECT_TRUE(result.passed()) << result.name << ": " << result.reason();
  }
}

// A model that ends its process fails alone; the models after it run. Equal calls are one case,
// except those of models that keep theirs.
TEST_F(RunCasesTest, OfModelsThatEndTheirProcessAreLeftOut) {
  const SuiteRequest request{.output = files_,
                             .content = "models",
                             .candidates = {"Close", "Aborts", "Hangs", "Wrong", "WrongInside"},
                             .is_split = true,
                             .keeps_equal = {"Wrong"},
                             .may_lack_candidates = true};
  const std::vector<SuiteProblem> problems =
      make_suite(request, {.timeout = std::chrono::seconds(3)}).problems;
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].name, "Aborts");
  EXPECT_EQ(problems[0].message, "its process was killed by signal 6 (Aborted)");
  EXPECT_EQ(problems[1].message, "its process exceeded the time limit of 3 s");
  const std::vector<CaseInfo> cases = read_suite(request.output);
  ASSERT_EQ(cases.size(), 3u);
  EXPECT_THAT(cases[0].occurrences,
              ElementsAre(CaseOccurrence{.model = "Close", .node = "add"},
                          CaseOccurrence{.model = "WrongInside", .node = "add"}));
  EXPECT_THAT(cases[1].occurrences, ElementsAre(CaseOccurrence{.model = "Wrong", .node = "add"}));
  EXPECT_EQ(cases[1].name, cases[0].name + "-2");
}

}  // namespace
}  // namespace torch_ir
