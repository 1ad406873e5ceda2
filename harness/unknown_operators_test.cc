// The command line on graphs with operators that this process does not have.

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/neg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "harness/backend/backend.h"
#include "harness/testing/run_command_line.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"
#include "torch_ir/weights/safetensors.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFoo = "nobody.foo.default";
constexpr const char* kLeftOut =
    "2 of 5 nodes are left out: 1 with an unsupported operator (nobody.foo.default), 1 "
    "dependent on such nodes; load the library that defines it (--load-library)";

// A chip that has the operator, which negates. On request it aborts at assertions.
class KnowsFoo : public PlanBackend {
 public:
  KnowsFoo(const BackendOptions& options, bool aborts)
      : PlanBackend(options.execution), aborts_(aborts) {}

  std::vector<at::Tensor> run(const Case& graph_case) override {
    IR known = to_ir(*graph_case.program);
    for (OpNode& node : known.nodes) {
      if (node.op_type == kFoo) node.op_type = "aten.neg.default";
      if (aborts_ && node.outputs.empty()) std::abort();
    }
    return PlanBackend::run(graph_case.with(resolve(known)));
  }
  std::unique_ptr<NodeValues> values(const Case& /*graph_case*/) override { return nullptr; }

 private:
  const bool aborts_;
};

const bool registered_knows_foo =
    register_backend("knows_foo",
                     [](const BackendOptions& options) {
                       return std::make_unique<KnowsFoo>(options, /*aborts=*/false);
                     }) &&
    register_backend("aborts_on_check", [](const BackendOptions& options) {
      return std::make_unique<KnowsFoo>(options, /*aborts=*/true);
    });

class UnknownOperatorsTest : public HarnessTest {
 protected:
  // relu, an assertion about it, foo, exp of foo, and sqrt of relu.
  UnknownOperatorsTest() {
    TestGraphBuilder builder("Net");
    builder.input("x", {4}).op("relu", "aten.relu.default", {"x"}, {4});
    builder.multi_op("check", "aten._assert_tensor_metadata.default", {"relu"}, {});
    builder.op("foo", kFoo, {"relu"}, {4}).op("exp", "aten.exp.default", {"foo"}, {4});
    builder.op("sqrt", "aten.sqrt.default", {"relu"}, {4}).output("exp").output("sqrt");
    const at::Tensor x = at::arange(4, at::kFloat);
    fs::create_directories(path("net"));
    save_ir(builder.build(), path("net/ir.json"));
    save_weights_safetensors({{"x", x}}, path("net/inputs.safetensors"));
    save_weights_safetensors({{"exp", x.neg().exp()}, {"sqrt", x.sqrt()}},
                             path("expected.safetensors"));
  }

  void give_expected() const {
    fs::rename(path("expected.safetensors"), path("net/expected.safetensors"));
  }
  HarnessOutcome run_net(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--ir", path("net")});
    return run(std::move(arguments));
  }
};

TEST_F(UnknownOperatorsTest, AreNamedWhereTheyAreNeeded) {
  const HarnessOutcome plan = run_net({}).expect_status(1);
  EXPECT_THAT(plan.out, AllOf(HasSubstr(kFoo), HasSubstr("--load-library")));
  // The others are compared.
  EXPECT_THAT(
      reports().at("net.md"),
      AllOf(HasSubstr("2 values compared with those of the model, all within the tolerance. "
                      "2 values could not be compared."),
            HasSubstr("2 of 5 nodes are left out"), Not(HasSubstr("No value could be compared"))));
  run_net({"--executor", "knows_foo"}).expect_status(1);
}

TEST_F(UnknownOperatorsTest, PassWhereWhoeverExecutesHasThemAndAreLeftOutOfSplitModels) {
  give_expected();
  EXPECT_THAT(run_net({"--executor", "knows_foo", "--split"}).expect_status(1).out,
              AllOf(HasSubstr("net  PASSED"), HasSubstr("2 of 2 cases passed"),
                    HasSubstr(std::string("cannot split net completely: ") + kLeftOut + "\n")));
  EXPECT_THAT(reports().at("net.md"),
              AllOf(HasSubstr("2 of 5 nodes are left out: 1 with an unsupported operator"),
                    HasSubstr("| `nobody.foo.default` | 1 | ? |"),
                    Not(HasSubstr("could not be completed"))));

  const std::string suite = path("suite");
  const HarnessOutcome exported = run_net({"--split", "--export-suite", suite}).expect_status(1);
  EXPECT_EQ(exported.out, suite + ": 2 cases\n");
  EXPECT_THAT(exported.err, HasSubstr(kLeftOut));
  EXPECT_EQ(read_suite(suite).size(), 2u);
}

TEST_F(UnknownOperatorsTest, LeaveNoSuiteWhereNothingCanBeWritten) {
  const std::string suite = path("suite");
  const HarnessOutcome whole = run_net({"--export-suite", suite}).expect_status(2);
  EXPECT_THAT(whole.err, HasSubstr("cannot write 'net': "));
  EXPECT_FALSE(fs::exists(suite));
  give_expected();
  run_net({"--export-suite", suite}).expect_status(0);
  fs::remove_all(suite);
  fs::remove(path("net/expected.safetensors"));

  IR ir = load_ir(path("net/ir.json"));
  ir.nodes[0].op_type = kFoo;
  save_ir(ir, path("net/ir.json"));
  const HarnessOutcome split = run_net({"--split", "--export-suite", suite}).expect_status(1);
  EXPECT_THAT(split.err, HasSubstr("5 of 5 nodes are left out: 2 with an unsupported operator"));
  EXPECT_EQ(split.out, "");
  EXPECT_FALSE(fs::exists(suite));
}

TEST_F(UnknownOperatorsTest, TheReproducerMayBeANodeThatReturnsNothing) {
  give_expected();
  const HarnessOutcome outcome = run_net({"--executor", "aborts_on_check"}).expect_status(1);
  EXPECT_THAT(outcome.out, HasSubstr("crashed in execute"));
  const IR part = load_ir(output_ + "/repro/net/ir.json");
  ASSERT_EQ(part.nodes.size(), 1u) << reports().at("net.md");
  EXPECT_EQ(part.nodes[0].name, "check");
}

}  // namespace
}  // namespace torch_ir
