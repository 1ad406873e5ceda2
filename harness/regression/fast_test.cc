// Runs every model of the registry, and archives shaped like real models, at optimization level
// `fast`. Outputs must be within 1e-4 of the expected ones, or their error against float64 at most
// four times eager's: sums of large numbers need that on some processors.

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/backend/open_backend.h"
#include "harness/divergence/node_comparison.h"
#include "harness/results/model_files.h"
#include "harness/stages/candidate.h"
#include "torch_ir/registry/registry.h"
#include "torch_ir/runtime/graph/fast_level.h"
#include "torch_ir/runtime/trace/trace.h"
#include "torch_ir/verifier/judge_run.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {
namespace {

void expect_within_tolerance(Candidate& candidate) {
  at::set_num_threads(1);
  ExecutionOptions options;
  options.optimization = Optimization::kFast;
  PlanBackend backend(options);
  Case content = first_trial(candidate);
  const int num_trials = candidate.choose_trials(RunSettings());
  for (int trial = 0; trial < num_trials; ++trial) {
    content.inputs = candidate.inputs(trial);
    at::manual_seed(0);
    const std::vector<at::Tensor> outputs = backend.run(content);
    at::manual_seed(0);
    content.expected = candidate.expected(trial, content.inputs);
    content.weights = candidate.weights();
    const VerificationReport report =
        judge_run({.graph_case = content, .outputs = outputs},
                  {.fixed = {.rtol = 1e-4, .atol = 1e-4}}, {.reference = ReferenceKind::kAuto});
    EXPECT_TRUE(report.is_valid) << report.error_message;
  }
}

TEST(FastTest, ModelsOfTheRegistryAreWithinTheTolerance) {
  EXPECT_GE(list_models().size(), 12u);
  for (const RegisteredModel& model : list_models()) {
    SCOPED_TRACE(model.name);
    expect_within_tolerance(*make_candidate(model, /*seed=*/0));
  }
}

TEST(FastTest, ArchivesAreWithinTheTolerance) {
  const std::vector<ModelFiles> archives = find_model_files({{.path = "harness/testdata"}}, {});
  EXPECT_GE(archives.size(), 17u);
  for (const ModelFiles& archive : archives) {
    SCOPED_TRACE(archive.name);
    EXPECT_EQ(archive.expected.size(), 1u);
    expect_within_tolerance(*make_candidate(archive, /*seed=*/0));
  }
}

// The values that a plan of the level `fast` computes, judged by the errors of its fused calls.
NodeReport nodes_of(Candidate& candidate) {
  at::set_num_threads(1);
  const RunSettings settings{.optimization = Optimization::kFast};
  const auto backend = open_backend(settings, ::testing::TempDir());
  const Case content = first_trial(candidate);
  backend->values(content);
  const ExplainedRun run{.candidate = candidate,
                         .graph_case = content,
                         .settings = settings,
                         .groups = backend->groups()};
  return explain(run, *backend, /*failed=*/false).nodes;
}

TEST(FastTest, ValuesOfArchivesAreRightByTheErrorsOfFusedCalls) {
  int64_t num_groups = 0;
  for (const ModelFiles& archive : find_model_files({{.path = "harness/testdata"}}, {})) {
    SCOPED_TRACE(archive.name);
    const NodeReport nodes = nodes_of(*make_candidate(archive, /*seed=*/0));
    EXPECT_EQ(nodes.error, "");
    EXPECT_EQ(nodes.num_not_judged, 0);
    EXPECT_GT(nodes.num_compared, 0);
    // A plan leaves out writes to memory that nothing reads, and memory that nothing has written is
    // not compared.
    EXPECT_LE(nodes.num_skipped,
              archive.name == "llama_cache" || archive.name == "mixtral" ? 2 : 0);
    num_groups += std::ssize(nodes.groups);
    if (!nodes.first_divergence) continue;
    const ValueDetail& node = nodes.first_divergence->node;
    ADD_FAILURE() << node.value << ": " << (node.own_error ? node.own_error->problem : "");
  }
  EXPECT_GT(num_groups, onednn_version() ? 200 : -1);
}

// Runs another kernel, whose first result it makes too large.
class WrongKernel : public PreparedKernel {
 public:
  WrongKernel(std::unique_ptr<PreparedKernel> right, at::Tensor result)
      : right_(std::move(right)), result_(std::move(result)) {}

  void run() override {
    right_->run();
    result_.view(at::kFloat).mul_(1.001);
  }
  bool writes_unused() const override { return right_->writes_unused(); }
  void on_moved(const c10::StorageImpl* storage) override { right_->on_moved(storage); }

 private:
  const std::unique_ptr<PreparedKernel> right_;
  const at::Tensor result_;
};

FastLevel right_level;
// Which of the fused calls is wrong, and the node that it belongs to.
size_t wrong_call = 0;
std::optional<size_t> wrong_node;

TraceRewrite make_wrong_rewrite() {
  return [rewrite = right_level.make_rewrite()](Trace& trace) mutable {
    rewrite(trace);
    size_t number = 0;
    for (TraceCall& call : trace.calls) {
      if (call.fused == nullptr || call.fused->name == "onednn::reorder") continue;
      if (number++ != wrong_call) continue;
      wrong_node = call.step;
      const auto prepare = [right = call.fused](const KernelCall& kernel_call) {
        return std::make_unique<WrongKernel>(right->prepare(kernel_call), kernel_call.outputs[0]);
      };
      call.fused = std::make_shared<FusedCall>(FusedCall{call.fused->name, prepare});
    }
  };
}

TEST(FastTest, NamesTheFusedCallThatIsWrong) {
  if (!onednn_version()) GTEST_SKIP() << "built without oneDNN";
  right_level = fast_level();
  fast_level().make_rewrite = make_wrong_rewrite;
  for (const ModelFiles& archive : find_model_files({{.path = "harness/testdata"}}, {})) {
    if (archive.name != "resnet" && archive.name != "bert" && archive.name != "llama") continue;
    const auto candidate = make_candidate(archive, /*seed=*/0);
    const std::shared_ptr<const Program> program = first_trial(*candidate).program;
    wrong_node = 0;
    for (wrong_call = 0; wrong_node; ++wrong_call) {
      wrong_node.reset();
      const NodeReport nodes = nodes_of(*candidate);
      if (!wrong_node) break;
      const std::string& name = program->nodes[*wrong_node].name;
      SCOPED_TRACE(archive.name + ": " + name);
      if (!nodes.first_divergence) {
        ADD_FAILURE() << "not found";
        continue;
      }
      const ValueDetail& found = nodes.first_divergence->node;
      EXPECT_TRUE(found.node == name || found.group.find(name) != std::string::npos ||
                  found.group.find(" ... ") != std::string::npos)
          << found.node << " of " << found.group;
      EXPECT_THAT(found.own_error->problem, ::testing::HasSubstr("roundings"));
    }
    EXPECT_GT(wrong_call, 10u);
  }
  fast_level() = right_level;
}

}  // namespace
}  // namespace torch_ir
