// The command line on single calls: the suite of operators, suites in files, split models.

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/results/testing/schema_problem.h"
#include "harness/run/testing/test_models.h"
#include "harness/testing/run_command_line.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

OperatorCase unary_case(const std::string& op_type, c10::ScalarType dtype,
                        const std::string& category) {
  return {.op_type = op_type,
          .dtype = dtype,
          .variant = "usual",
          .category = category,
          .arguments = [dtype] { return std::vector<c10::IValue>{at::arange(1, 5, dtype)}; }};
}

OperatorCase convolution_case() {
  return {.op_type = "aten.conv3d.default",
          .variant = "usual",
          .category = "convolution",
          .arguments = [] {
            return std::vector<c10::IValue>{at::ones({1, 2, 3, 3, 3}), at::ones({2, 2, 2, 2, 2})};
          }};
}

const bool registered_single_calls = register_operator_cases([] {
  return std::vector<OperatorCase>{unary_case("aten.abs.default", at::kFloat, "pointwise"),
                                   unary_case("aten.abs.default", at::kBFloat16, "pointwise"),
                                   unary_case("aten.neg.default", at::kFloat, "pointwise"),
                                   unary_case("aten.sum.default", at::kFloat, "reduction"),
                                   convolution_case()};
});

// Calls `before` with the operator of each node of a graph, and then runs it.
class Watched : public Backend {
 public:
  using Before = void (*)(const std::string& op_type);

  Watched(const BackendOptions& options, Before before)
      : plans_(options.execution), before_(before) {}

  std::vector<at::Tensor> run(const Case& graph_case) override {
    for (const Node& node : graph_case.program->nodes) before_(node.target);
    return plans_.run(graph_case);
  }

 private:
  PlanBackend plans_;
  const Before before_;
};

bool register_watched(const std::string& name, Watched::Before before) {
  return register_backend(name, [before](const BackendOptions& options) {
    return std::make_unique<Watched>(options, before);
  });
}

// A chip without absolute values.
void refuse_abs(const std::string& op_type) {
  if (op_type == "aten.abs.default") throw Error(kNotSupported, "no abs here");
}

// Presses Ctrl-C at the first negation, and goes no further.
void interrupt_at_neg(const std::string& op_type) {
  refuse_abs(op_type);
  if (op_type != "aten.neg.default") return;
  signal_harness(SIGINT);
  for (;;) ::pause();
}

const bool registered_watched =
    register_watched("no_abs", refuse_abs) && register_watched("interrupting", interrupt_at_neg);

class SuitesTest : public HarnessTest {
 protected:
  HarnessOutcome run_operators(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--suite", "operators"});
    return run(std::move(arguments));
  }

  std::vector<std::string> case_names() const {
    std::vector<std::string> names;
    const json all = results();
    for (const json& it : all["cases"]) names.push_back(it["name"]);
    return names;
  }
};

TEST_F(SuitesTest, RunTheOperators) {
  const HarnessOutcome outcome = run_operators({"--jobs", "2"}).expect_status(0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, StartsWith("convolution  1 of 1 cases passed\n"
                                      "pointwise    3 of 3 cases passed\n"
                                      "reduction    1 of 1 cases passed\n"
                                      "5 of 5 cases passed; see " +
                                      output_ + "/OPERATORS.md, or "));
  const auto first = reports();
  EXPECT_TRUE(first.contains("OPERATORS.md"));
  EXPECT_THAT(first.at("OPERATORS.md"),
              HasSubstr("tools/bazel run //harness -- --suite operators"));
  EXPECT_THAT(first.at("SUMMARY.md"),
              AllOf(HasSubstr("| LibTorch | Runs on | Device | Threads |\n|---|---|---|--:|\n"),
                    Not(HasSubstr("olerance"))));
  EXPECT_THAT(first.at("junit.xml"), HasSubstr("tests=\"5\" failures=\"0\""));
  EXPECT_EQ(schema_problem(results()), "");
  run_operators({}).expect_status(0);
  EXPECT_EQ(reports(), first);
}

// The chip runs the negation, and its host the rest.
TEST_F(SuitesTest, RunOnAServer) {
  write_file(path("server.sh"), R"(while read -r request; do
  ir=${request#*'"ir":"'} outputs=${request#*'"outputs":"'}
  inputs=${request#*'"inputs":"'} weights=${request#*'"weights":"'}
  case "$request" in
  *aten.sum.*) echo '{"status": "unsupported", "message": "no sums"}'; continue;;
  *aten.conv3d.*) exit 1;;
  *aten.neg.*) nodes=;;
  *) nodes='"abs_1": "host"';;
  esac
  src/torch_ir/cli/torch-ir execute "${ir%%\"*}" --weights "${weights%%\"*}" --inputs \
      "${inputs%%\"*}" --outputs "${outputs%%\"*}" >&2
  echo '{"status": "ok", "seconds": 1.5, "nodes": {'$nodes'}}'
done
)");
  const std::string command = "sh " + path("server.sh");
  const HarnessOutcome outcome =
      run_operators({"--executor", command, "--jobs", "2"}).expect_status(1);
  EXPECT_THAT(
      outcome.out,
      HasSubstr("3 of 5 cases passed (2 with nodes on the host), 1 unsupported, 1 crashed"));
  const auto first = reports();
  EXPECT_EQ(schema_problem(results()), "");
  const json node = {
      {"op_type", "aten.abs.default"}, {"place", "host"}, {"metrics", json::object()}};
  EXPECT_EQ(results()["cases"][1]["executor"],
            json({{"num_nodes", 1}, {"nodes", {{"abs_1", node}}}}));
  EXPECT_FALSE(results()["cases"][3].contains("executor"));
  EXPECT_THAT(first.at("OPERATORS.md"),
              HasSubstr("--suite operators --executor '" + command + "'\n"));
  run_operators({"--executor", command}).expect_status(1);
  EXPECT_EQ(reports(), first);
}

TEST_F(SuitesTest, KeepWhatHadFinishedWhenInterrupted) {
  const HarnessOutcome outcome =
      run_operators({"--executor", "interrupting", "--category", "pointwise"}).expect_status(130);
  EXPECT_EQ(outcome.err,
            "harness: interrupted; the reports cover the 2 of 3 cases that finished\n");
  EXPECT_THAT(case_names(),
              ElementsAre("aten.abs.default/bfloat16/usual", "aten.abs.default/float32/usual"));
  EXPECT_EQ(schema_problem(results()), "");
  EXPECT_THAT(reports().at("OPERATORS.md"),
              AllOf(HasSubstr("❌ **Interrupted: 0 of 2 cases passed, 2 unsupported**"),
                    HasSubstr("This run was interrupted after 2 cases had finished.")));
}

TEST_F(SuitesTest, RunWhatIsAskedForAndListTheirCategories) {
  run_operators({"--operator", "aten.abs", "--dtype", "float32"}).expect_status(0);
  EXPECT_THAT(case_names(), ElementsAre("aten.abs.default/float32/usual"));
  EXPECT_THAT(reports().at("OPERATORS.md"),
              HasSubstr("--suite operators --operator aten.abs --dtype float32\n"));
  const HarnessOutcome outcome = run_operators({"--list-categories"}).expect_status(0);
  EXPECT_EQ(outcome.out, "convolution\npointwise\nreduction\n");
}

TEST_F(SuitesTest, RefuseWhatThereIsNot) {
  expect_refusal(run({"--suite", "foo"}),
                 "--suite: unknown suite 'foo'; expected models or operators\n");
  expect_refusal(run_operators({"--operator", "aten.conv3"}),
                 "unknown operator 'aten.conv3'; did you mean 'aten.conv3d'?\n");
  expect_refusal(run({"--operator", "aten.abs"}),
                 "--operator needs --suite operators, or a suite given by --ir\n");
  expect_refusal(run({"--dtype", "float32"}),
                 "--dtype needs --suite operators, or a suite given by --ir\n");
  expect_refusal(run_operators({"--model", "Good"}),
                 "--suite and --model cannot be combined: the operator suite has no models\n");
  expect_refusal(run_operators({"--scale", "full"}), "--scale and --suite cannot be combined");
  expect_refusal(run_operators({"--executor", "sim {ir}"}), "--executor: missing {weights} in ");
  for (const std::string flag : {"--trials=2", "--seed=2", "--per-node", "--save-tensors"}) {
    expect_refusal(run_operators({flag}),
                   "--suite and " + flag.substr(0, flag.find('=')) +
                       " cannot be combined: operator cases are single calls with fixed inputs\n");
  }
}

TEST_F(SuitesTest, FailWithoutSupportOnlyWhereThatIsAskedFor) {
  const HarnessOutcome lenient = run_operators({"--executor", "no_abs"}).expect_status(0);
  EXPECT_THAT(lenient.out, HasSubstr("3 of 5 cases passed, 2 unsupported; see "));
  EXPECT_THAT(reports().at("junit.xml"), HasSubstr("failures=\"0\" errors=\"0\" skipped=\"2\""));
  run_operators({"--executor", "no_abs", "--require-support"}).expect_status(1);
  EXPECT_THAT(reports().at("OPERATORS.md"), HasSubstr("❌ **3 of 5 cases passed, 2 unsupported**"));
  EXPECT_THAT(reports().at("junit.xml"), HasSubstr("failures=\"2\" errors=\"0\" skipped=\"0\""));
  const HarnessOutcome quiet =
      run_operators({"--executor", "no_abs", "--require-support", "--quiet"});
  EXPECT_EQ(quiet.out, "");
  EXPECT_EQ(quiet.err, "3 of 5 cases passed, 2 unsupported\n");
  EXPECT_THAT(reports().at("OPERATORS.md"), HasSubstr("## Unsupported operators"));
  // What was unsupported runs again only where support is required now.
  run_operators({"--executor", "no_abs"}).expect_status(0);
  const std::string before = output_ + "/results.json";
  run_command_line({"--rerun", before}).expect_status(0);
  run_command_line({"--rerun", before, "--require-support"}).expect_status(1);
  // Where support is required, a list of expected failures can name what has none.
  write_file(path("list"), "aten.abs.*: unsupported: the chip has no abs\n");
  run_operators({"--executor", "no_abs", "--require-support", "--expected-failures", path("list")})
      .expect_status(0);
}

TEST_F(SuitesTest, AreComparedWithABaseline) {
  run_operators({}).expect_status(0);
  fs::rename(output_, path("old"));
  const std::string baseline = path("old") + "/results.json";
  const HarnessOutcome same = run_operators({"--baseline", baseline}).expect_status(0);
  EXPECT_THAT(same.out, HasSubstr("no changes since " + baseline + ", 5 cases compared\n"));
  const HarnessOutcome worse =
      run_operators({"--baseline", baseline, "--executor", "off_by_one"}).expect_status(1);
  EXPECT_THAT(worse.out, AllOf(HasSubstr("5 cases compared: 5 worse\n"),
                               HasSubstr("  worse    aten.abs.default/float32/usual  ")));
  EXPECT_EQ(schema_problem(results()), "");
  EXPECT_THAT(reports().at("SUMMARY.md"), HasSubstr("5 cases compared"));
}

TEST_F(SuitesTest, FailAsExpected) {
  const std::string list = path("known.txt");
  const auto run_with = [&](const std::string& lines, std::vector<std::string> arguments) {
    write_file(list, lines);
    arguments.insert(arguments.end(), {"--expected-failures", list});
    return run_operators(std::move(arguments));
  };
  const std::string line = "aten.sum.default/float32/usual: output mismatch: adds one too many\n";
  const HarnessOutcome known =
      run_with(line, {"--operator", "aten.sum", "--executor", "off_by_one"}).expect_status(0);
  EXPECT_THAT(known.out, HasSubstr("0 of 1 cases passed, 1 expected failure"));
  EXPECT_THAT(reports().at("junit.xml"), HasSubstr("failures=\"0\" errors=\"0\" skipped=\"1\""));
  const HarnessOutcome mended = run_with(line, {"--operator", "aten.sum"}).expect_status(1);
  EXPECT_THAT(mended.out, HasSubstr("0 of 1 cases passed, 1 unexpected pass"));
  run_with("aten.sun.default/float32/usual: crashed: a typo\n", {"--operator", "aten.sum"})
      .expect_status(2);
  run_with("aten.neg.default/float32/usual: crashed: not selected\nGood: crashed: a model\n",
           {"--operator", "aten.sum"})
      .expect_status(0);

  const std::string pattern = "*float32/*: output mismatch: adds one too many\n";
  const HarnessOutcome some = run_with(pattern, {"--executor", "off_by_one"}).expect_status(1);
  EXPECT_THAT(some.out, HasSubstr("0 of 5 cases passed, 1 differs, 4 expected failure"));
  const HarnessOutcome none = run_with(pattern, {"--executor", "no_abs"}).expect_status(0);
  EXPECT_THAT(none.out, HasSubstr("3 of 5 cases passed, 2 unsupported"));
}

TEST_F(SuitesTest, WriteTheListOfTheirFailures) {
  const std::string list = path("known.txt");
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--write-expected-failures", list});
    return run_operators(arguments);
  };
  run({"--executor", "off_by_one", "--operator", "aten.abs"}).expect_status(1);
  const std::string text =
      "aten.abs.default/bfloat16/usual: output mismatch: new\n"
      "aten.abs.default/float32/usual: output mismatch: new\n";
  EXPECT_EQ(read_file(list), text);
  // The reasons of a list that is there already stay, and what is not selected.
  write_file(list, "# One too many.\naten.abs.default/float32/usual: output mismatch: known\n");
  run({"--executor", "off_by_one", "--dtype", "bfloat16"}).expect_status(1);
  const std::string both =
      "aten.abs.default/bfloat16/usual: output mismatch: new\n"
      "# One too many.\n"
      "aten.abs.default/float32/usual: output mismatch: known\n";
  EXPECT_EQ(read_file(list), both);
  const std::vector<std::string> flags = {"--executor", "off_by_one",          "--operator",
                                          "aten.abs",   "--expected-failures", list};
  run(flags).expect_status(0);
  EXPECT_EQ(read_file(list), both);
  run({"--dtype", "bfloat16", "--expected-failures", list}).expect_status(1);
  EXPECT_EQ(read_file(list),
            "# One too many.\naten.abs.default/float32/usual: output mismatch: known\n");
  // A file that does not hold a list stays as it is.
  write_file(list, "notes\n");
  const HarnessOutcome refused = run({}).expect_status(2);
  EXPECT_THAT(refused.err, HasSubstr("known.txt:1: invalid line; expected NAME: KIND: REASON"));
  EXPECT_EQ(read_file(list), "notes\n");
}

// A model that fails or ends its process costs itself only.
TEST_F(SuitesTest, TakeApartWhatCanBeBesideModelsThatFail) {
  run({"--split", "--model", "Aborts", "--model", "Throws", "--model", "Wrong", "--model", "Close"})
      .expect_status(1);
  EXPECT_EQ(results()["models"].size(), 4u);
  // Equal calls run where a model fails.
  ASSERT_EQ(results()["cases"].size(), 2u);
  for (const json& it : results()["cases"]) EXPECT_EQ(it["call"]["occurrences"].size(), 1u);
}

TEST_F(SuitesTest, SayWhichCallsDidNotRunAndNameFaultyOperators) {
  run({"--split", "--model", "Close", "--model", "Doubled"}).expect_status(0);
  ASSERT_EQ(results()["cases"].size(), 2u);
  EXPECT_EQ(results()["cases"][0]["call"]["occurrences"].size(), 2u);
  EXPECT_THAT(reports().at("Close.md"),
              AllOf(HasSubstr("1 of 1 call pass alone"), HasSubstr("| ✅ passed |"),
                    Not(HasSubstr("not run"))));
  EXPECT_THAT(reports().at("Doubled.md"),
              AllOf(HasSubstr("| as `add` of Close, not run |"), HasSubstr("1 not run, because")));
  run({"--split", "--model", "Close", "--executor", "off_by_one"}).expect_status(1);
  EXPECT_THAT(reports().at("Close.md"), HasSubstr("Faulty operators: `aten.add."));
}

TEST_F(SuitesTest, RunFromTheFilesThatWereWritten) {
  const std::string suite = path("suite");
  EXPECT_EQ(run_operators({"--export-suite", suite}).expect_status(0).out, suite + ": 5 cases\n");
  EXPECT_FALSE(fs::exists(output_));
  EXPECT_EQ(read_suite(suite).size(), 5u);
  const auto files = files_below(suite);
  run_operators({"--export-suite", suite}).expect_status(0);
  EXPECT_EQ(files_below(suite), files);

  EXPECT_THAT(run({"--ir", suite}).expect_status(0).out, HasSubstr("5 of 5 cases passed; see "));
  EXPECT_EQ(case_names().size(), 5u);
  EXPECT_EQ(schema_problem(results()), "");
  run({"--ir", suite, "--executor", "no_abs", "--require-support"}).expect_status(1);
  const HarnessOutcome wrong = run({"--ir", suite, "--executor", "off_by_one"}).expect_status(1);
  EXPECT_THAT(wrong.out, HasSubstr("0 of 5 cases passed, 5 differ"));
  EXPECT_EQ(files_below(suite), files);

  const HarnessOutcome twice = run({"--ir", suite, "--ir", suite}).expect_status(2);
  EXPECT_THAT(twice.err, HasSubstr("usual'; run the suites one by one"));
}

TEST_F(SuitesTest, ExportModelsToo) {
  const std::string suite = path("suite");
  const HarnessOutcome written =
      run({"--model", "Good", "--model", "Wrong", "--export-suite", suite}).expect_status(0);
  EXPECT_EQ(written.out, suite + ": 2 cases\n");
  // Wrong returns other values than its graph computes.
  run({"--ir", suite}).expect_status(1);
  const json cases = results()["cases"];
  EXPECT_EQ(cases[0]["name"], "Good");
  EXPECT_EQ(cases[0]["status"], "passed");
  EXPECT_EQ(cases[1]["name"], "Wrong");
  EXPECT_EQ(cases[1]["status"], "failed");
  EXPECT_EQ(cases[1]["failure"]["kind"], "output mismatch");
}

TEST_F(SuitesTest, ReplaceNoOtherFiles) {
  const std::string folder = path("mine");
  fs::create_directories(folder);
  write_file(folder + "/thesis.txt", "years");
  expect_refusal(run_operators({"--export-suite", folder}),
                 "harness: '" + folder +
                     "' holds 'thesis.txt', which is not part of a suite; use an empty folder\n");
  expect_refusal(run_operators({"--export-suite", folder + "/thesis.txt"}), "is not a folder\n");
  EXPECT_THAT(files_below(folder), ElementsAre(std::pair("thesis.txt", "years")));
  expect_refusal(run_operators({"--export-suite", path("new"), "--operator", "aten.no"}),
                 "unknown operator 'aten.no'");
  EXPECT_FALSE(fs::exists(path("new")));
}

TEST_F(SuitesTest, ShowAModelWholeAndTakenApart) {
  EXPECT_THAT(run({"--split", "--pt2", "harness/testdata/gru.pt2"}).expect_status(0).out,
              AllOf(HasSubstr("gru  PASSED"), HasSubstr("1 of 1 models passed; ")));
  const auto pages = reports();
  EXPECT_THAT(pages.at("OPERATORS.md"), HasSubstr("## Calls in models"));
  EXPECT_THAT(pages.at("OPERATORS.md"), HasSubstr("The cases are the calls of"));
  EXPECT_THAT(pages.at("gru.md"),
              HasSubstr("pass alone, on the inputs that the model computes for them"));
  EXPECT_THAT(pages.at("SUMMARY.md"), HasSubstr("see [OPERATORS.md](OPERATORS.md)"));
  EXPECT_FALSE(results()["cases"].empty());
  EXPECT_EQ(schema_problem(results()), "");
  for (const auto& [name, content] : pages) EXPECT_THAT(content, Not(HasSubstr(scratch_))) << name;
}

// A graph that fails at its second node.
TEST_F(SuitesTest, KeepTheCallsBeforeTheOneThatFails) {
  run({"--model", "Wrong"}).expect_status(1);
  fs::rename(output_ + "/repro/Wrong", path("broken"));
  fs::remove_all(output_);
  IR ir = load_ir(path("broken/ir.json"));
  const OpNode& last = ir.nodes.at(0);
  const TensorMeta view = meta("view", last.outputs.at(0).shape);
  ir.nodes.push_back(node("view", "aten.view.default", {made_by(last.outputs[0], last.name)},
                          {view}, {{"size", Attribute::list({7})}}));
  ir.graph_outputs = {view};
  save_ir(ir, path("broken/ir.json"));
  fs::remove(path("broken/expected.safetensors"));
  run({"--split", "--ir", path("broken")}).expect_status(1);
  EXPECT_EQ(case_names().size(), 1u);
  EXPECT_EQ(results()["models"][0]["status"], "failed");
}

}  // namespace
}  // namespace torch_ir
