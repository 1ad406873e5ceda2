// Runs every model of the registry, and archives shaped like real models, at optimization level
// `fast`. Outputs must be within 1e-4 of the expected ones, or their error against float64 at most
// four times eager's: sums of large numbers need that on some processors.

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/results/model_files.h"
#include "harness/stages/candidate.h"
#include "torch_ir/registry/registry.h"
#include "torch_ir/verifier/second_opinion.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {
namespace {

void expect_within_tolerance(Candidate& candidate) {
  at::set_num_threads(1);
  ExecutionOptions options;
  options.optimization = Optimization::kFast;
  PlanBackend backend(options);
  Case content = first_trial(candidate);
  for (int trial = 0; trial < candidate.num_trials(RunSettings()); ++trial) {
    content.inputs = candidate.inputs(trial);
    at::manual_seed(0);
    const std::vector<at::Tensor> outputs = backend.run_case(content);
    at::manual_seed(0);
    content.expected = candidate.expected(0, content.inputs);
    content.weights = candidate.weights();
    const VerificationReport report = compare_known_outputs(
        *content.program, outputs, content.expected, {.fixed = {.rtol = 1e-4, .atol = 1e-4}});
    if (report.is_valid) continue;
    for (const SecondOpinion& opinion : second_opinions(content, outputs, content.expected)) {
      EXPECT_EQ(opinion_problem(opinion, kDefaultErrorFactor), "") << report.error_message;
    }
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
    EXPECT_NE(archive.expected, "");
    expect_within_tolerance(*make_candidate(archive, /*seed=*/0));
  }
}

}  // namespace
}  // namespace torch_ir
