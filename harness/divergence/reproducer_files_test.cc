#include <gtest/gtest.h>

#include <utility>

#include "harness/divergence/reproducer.h"

namespace torch_ir {
namespace {

TEST(ReproducerCommandTest, RunsTheGraphAsItRanAndJudgesItAsItWasJudged) {
  const ToleranceRule figures = {.fixed = {.rtol = 1e-5, .atol = 0.25}};
  const Criterion own = {.reference = ReferenceKind::kFloat64};
  const Criterion any = {.reference = ReferenceKind::kAuto};
  const Criterion by_model = {};
  const Optimization fast = Optimization::kFast;
  const std::pair<RunSettings, std::string> commands[] = {
      {{}, ""},
      {{.tolerance = figures, .optimization = fast},
       " --rtol 1e-05 --atol 0.25 --optimization fast"},
      {{.tolerance = figures, .criterion = own, .optimization = fast},
       " --tolerance own --optimization fast"},
      {{.seed = 7, .optimization = fast}, " --seed 7 --optimization fast"},
      {{.tolerance = figures, .criterion = any, .backend = "my chip"}, " --executor 'my chip'"},
      {{.tolerance = figures, .criterion = by_model, .backend = "my chip"},
       " --executor 'my chip' --rtol 1e-05 --atol 0.25"},
      {{.seed = 7, .criterion = by_model, .backend = "chip"},
       " --executor chip --tolerance dtype --seed 7"},
      {{.seed = 7,
        .tolerance = figures,
        .criterion = by_model,
        .executor = "sim --mode='a b' {ir} {weights} {inputs} {outputs}"},
       " --executor 'sim --mode='\\''a b'\\'' {ir} {weights} {inputs} {outputs}' "
       "--rtol 1e-05 --atol 0.25 --seed 7"},
      {{.executor = "sim", .executor_intermediates = true}, " --executor sim"},
      {{.executor = "sim --server", .executor_is_server = true, .executor_intermediates = true},
       " --executor 'sim --server' --per-node"},
  };
  for (const auto& [settings, flags] : commands) {
    EXPECT_EQ(reproducer_command(/*has_expected=*/true, settings), "harness --ir ." + flags);
  }
  // Without expected outputs, the command would otherwise run more than one trial.
  EXPECT_EQ(reproducer_command(/*has_expected=*/false, RunSettings()), "harness --ir . --trials 1");
}

}  // namespace
}  // namespace torch_ir
