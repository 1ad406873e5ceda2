// At level exact, plans match the registry's models and the archives of testdata bit for bit, node
// by node.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "harness/backend/backend.h"
#include "harness/divergence/node_comparison.h"
#include "harness/stages/candidate.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/registry/registry.h"
#include "torch_ir/verifier/compare_nodes.h"

namespace torch_ir {
namespace {

// With inputs of more than two dimensions torch::nn::Linear computes matmul and +=, which may
// differ from aten.linear in the last bits.
constexpr double kLastBits = 1e-6;

void expect_equal_nodes(Candidate& candidate, Backend& backend, double most = 0) {
  at::set_num_threads(1);
  const Case content = first_trial(candidate);
  const RunSettings settings;
  const Explanation explanation =
      explain({.candidate = candidate, .graph_case = content, .settings = settings}, backend,
              /*failed=*/false);
  EXPECT_EQ(explanation.nodes.error, "");
  EXPECT_EQ(explanation.nodes.num_compared + explanation.nodes.num_skipped,
            static_cast<int64_t>(compared_values(*content.program).size()));
  EXPECT_EQ(explanation.nodes.num_mismatched, 0);
  for (const ValueDetail& detail : explanation.nodes.worst) {
    EXPECT_LE(detail.comparison.max_diff, most) << detail.value;
  }
  // Runs of the whole graph end with the last value written. Plans leave out writes to memory that
  // nothing reads.
  for (const NodeReport::Skipped& skipped : explanation.nodes.skipped) {
    EXPECT_TRUE(explanation.nodes.note != "" || skipped.value.starts_with("add_"))
        << skipped.value << ": " << skipped.reason;
  }
}

// A backend without node values. It writes outputs by name, so each may be an output only once.
class WholeRuns : public PlanBackend {
 public:
  using PlanBackend::PlanBackend;
  std::vector<at::Tensor> run(const Case& graph_case) override {
    std::set<std::string> names;
    for (const TensorMeta& output : to_ir(*graph_case.program).graph_outputs) {
      EXPECT_TRUE(names.insert(output.name).second) << output.name << " is an output twice";
    }
    return PlanBackend::run(graph_case);
  }
  std::unique_ptr<NodeValues> values(const Case& /*graph_case*/) override { return nullptr; }
};

TEST(NodeByNodeTest, ModelsOfTheRegistryAreEqualAlsoInWholeRuns) {
  for (const RegisteredModel& model : list_models()) {
    SCOPED_TRACE(model.name);
    PlanBackend backend{ExecutionOptions()};
    expect_equal_nodes(*make_candidate(model, 0), backend, kLastBits);
    WholeRuns whole{ExecutionOptions()};
    expect_equal_nodes(*make_candidate(model, 0), whole, kLastBits);
  }
}

class ArchiveTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ArchiveTest, IsEqual) {
  const ModelFiles archive{.name = GetParam(),
                           .path = "harness/testdata/" + GetParam() + ".pt2",
                           .inputs = {"harness/testdata/" + GetParam() + ".inputs.safetensors"}};
  PlanBackend backend{ExecutionOptions()};
  expect_equal_nodes(*make_candidate(archive, 0), backend);
}

INSTANTIATE_TEST_SUITE_P(Testdata, ArchiveTest,
                         ::testing::Values("gpt2", "llama", "llama_cache", "lstm", "mobilenet_v3",
                                           "resnet", "t5", "vit"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace torch_ir
