#include "harness/report/run_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ModelChange worse(const std::string& model) {
  return {.model = model,
          .trend = Trend::kWorse,
          .changes = {{.what = "max abs. error, normal values",
                       .before = 1e-7,
                       .now = 0.5,
                       .trend = Trend::kWorse},
                      {.what = "nodes", .before = int64_t{3}, .now = int64_t{4}}}};
}

// A model that only one of the runs has.
ModelChange alone(const std::string& model, Trend trend) {
  FigureChange status{.what = "status", .trend = trend};
  (trend == Trend::kGone ? status.before : status.now) = std::string("passed");
  return {.model = model, .trend = trend, .changes = {status}};
}

ModelChange another_graph(const std::string& model, std::vector<std::string> details) {
  return {.model = model, .changes = {{.what = "graph", .details = std::move(details)}}};
}

TEST(BaselineTextTest, ModelsStandInColumns) {
  const BaselineComparison comparison = {
      .notes = {"LibTorch: 2.13.0 -> 2.14.0"},
      .num_compared = 2,
      .models = {worse("LongName"), alone("Gone\x1b", Trend::kGone),
                 another_graph("Graph", {"added aten.relu.default relu"}),
                 alone("New", Trend::kNew)}};
  EXPECT_EQ(baseline_text(comparison, "o\nld"),
            "changes since o\\x0ald, 2 models compared: 1 worse, 1 gone, 1 changed, 1 new\n"
            "  note     LibTorch: 2.13.0 -> 2.14.0\n"
            "  worse    LongName  max abs. error, normal values: 1e-07 -> 0.5\n"
            "                     nodes: 3 -> 4\n"
            "  gone     Gone\\x1b  status: was passed\n"
            "  changed  Graph     graph changed\n"
            "                       added aten.relu.default relu\n"
            "  new      New       status: passed\n");
}

TEST(BaselineTextTest, SaysThatNothingChangedOrWasComparedAndRoundsTolerancesUp) {
  EXPECT_EQ(baseline_text({.num_compared = 3}, "old/results.json"),
            "no changes since old/results.json, 3 models compared\n");
  EXPECT_EQ(baseline_text(BaselineComparison(), "old"), "nothing of this run is in old\n");
  const FigureChange change{.what = "smallest passing tolerance, normal values",
                            .before = 0.14137,
                            .now = std::numeric_limits<double>::infinity(),
                            .is_tolerance = true};
  const BaselineComparison comparison = {.models = {{.model = "A", .changes = {change}}}};
  EXPECT_THAT(baseline_text(comparison, "old"), HasSubstr("normal values: 0.142 -> none\n"));
}

TEST(BaselineTextTest, ManyModelsAndChangesAreCut) {
  BaselineComparison comparison;
  comparison.models.push_back(another_graph("M0", std::vector<std::string>(12, "detail")));
  for (int i = 1; i < 25; ++i) comparison.models.push_back(worse("M" + std::to_string(i)));
  const std::string text = baseline_text(comparison, "old");
  EXPECT_THAT(text, HasSubstr("  worse    M19  "));
  EXPECT_THAT(text, Not(HasSubstr("M20")));
  EXPECT_THAT(text, HasSubstr("  ... and 5 more models\n"));
  EXPECT_THAT(text, HasSubstr("    ... and 2 more\n"));
  for (int i = 0; i < 304; ++i) {
    comparison.models.push_back(alone("C" + std::to_string(i), Trend::kNew));
    comparison.models.back().is_case = true;
  }
  EXPECT_THAT(baseline_text(comparison, "old"),
              HasSubstr("  ... and 5 more models and 304 more cases\n"));
  comparison.models.erase(comparison.models.begin(), comparison.models.begin() + 25);
  EXPECT_THAT(baseline_text(comparison, "old"), HasSubstr("  ... and 284 more cases\n"));
}

}  // namespace
}  // namespace torch_ir
