#include "harness/report/finding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/results/testing/test_results.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result failed_at(const ValueDetail& value, const std::string& name = "Net") {
  Result result = make_mismatch();
  result.name = name;
  result.nodes.emplace().first_divergence.emplace().node = value;
  return result;
}

ValueDetail silu() {
  return {.index = 3,
          .node = "silu",
          .op_type = "aten.silu.default",
          .value = "silu",
          .module = "layers.3.mlp",
          .source = "site-packages/zoo/net.py:7, called at train/model.py:12",
          .own_error = OwnError{.slope = 1e-3, .problem = "an RMS error of 5 roundings"}};
}

Result failed_call(const std::string& name, double slope) {
  Result call = make_failed_case("aten.silu.default", "float32", FailureKind::kOutputMismatch,
                                 "output 0: 3 of 4");
  call.name = name;
  call.call->occurrences = {{"Net", "n"}};
  call.own_error = OwnError{.slope = slope, .problem = "too far"};
  return call;
}

TEST(FindingTest, IsThePlaceAndTheCause) {
  ValueDetail value = silu();
  EXPECT_EQ(finding_of(failed_at(value)).text(), "node 3, silu in layers.3.mlp: 0.1 % too large");
  value.steps = StepCounts{.num_off_by_one = 3};
  value.comparison.num_elements = 8192;
  EXPECT_EQ(cause_text(value), "3 of 8,192 elements off by one step");
  value.steps->num_off_by_more = 900;
  EXPECT_EQ(cause_text(value), "0.1 % too large");
  value.comparison.max_diff = kInfinity;
  value.comparison.worst_actual = "inf";
  value.comparison.worst_expected = "0.5";
  EXPECT_EQ(cause_text(value), "inf, expected 0.5");
  value.comparison.mismatch = "dtype int32, expected int64";
  value.value = "silu_1";
  value.group = "g";
  EXPECT_EQ(finding_of(failed_at(value)).text(),
            "node 3, silu, its value silu_1 of the group g in layers.3.mlp: dtype int32, expected "
            "int64");
  value.module = std::string(300, 'm') + "\n";
  EXPECT_LE(finding_of(failed_at(value)).text().size(), kMaxFinding);
  value.module = value.comparison.mismatch = std::string(300, '\n');
  EXPECT_LE(finding_of(failed_at(value)).text().size(), kMaxFinding);
}

TEST(FindingTest, OfAProcessThatEndedIsItsSmallestPartAndOfOneThatVariesHowOften) {
  Result result{.name = "Net", .num_passed_stages = 2};
  result.failure =
      Failure{.kind = FailureKind::kCrashed, .stage = Stage::kExecute, .message = "It was killed."};
  EXPECT_EQ(finding_of(result).text(), "crashed in execute: It was killed.");
  result.reproducer = Reproducer{.num_nodes = 2, .first_node = "conv", .last_node = "relu"};
  EXPECT_EQ(finding_of(result).text(), "2 nodes, conv to relu: crashed in execute: It was killed.");
  result = failed_at(silu());
  result.varies = "2 of 5 runs, first at softmax_3";
  EXPECT_THAT(finding_of(result).text(),
              HasSubstr("differs from run to run (2 of 5 runs, first at softmax_3)"));
}

// The line outside of packages, where GitHub shows it.
TEST(FindingTest, IsAnAnnotationOfTheUsersLine) {
  EXPECT_EQ(
      annotation(failed_at(silu(), "a:b")),
      "::error file=train/model.py,line=12,title=a%3Ab::node 3, silu in layers.3.mlp: 0.1 %25 "
      "too large\n");
}

TEST(FailureCausesTest, ModelsAndCallsOfOneCauseAreOneGroup) {
  ValueDetail other = silu();
  other.op_type = "aten.gelu.default";
  const std::vector<Result> models = {failed_at(other, "C"), failed_at(silu(), "A"),
                                      failed_at(silu(), "B")};
  const std::vector<Result> calls = {failed_call("silu/1", 1e-3), failed_call("silu/2", 2e-3)};
  const std::vector<FailureCause> causes = failure_causes(models, calls);
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(causes[0].what, "silu, 0.1 % too large");
  EXPECT_THAT(causes[0].models, ElementsAre("A", "B"));
  EXPECT_EQ(causes[1].what, "gelu, 0.1 % too large");
  EXPECT_EQ(causes_lines(causes, 1),
            "  silu, 0.1 % too large: 2 models, 2 calls: A, B\n  ... and 1 more\n");
}

}  // namespace
}  // namespace torch_ir
