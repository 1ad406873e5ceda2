#include "harness/run/progress.h"

#include <gmock/gmock.h>

#include <sstream>

namespace torch_ir {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Result passed(const std::string& name) {
  Result result{.name = name, .num_passed_stages = kStages.size(), .passed_by = Basis::kTolerance};
  result.trials.emplace_back().verification.output_details.emplace_back();
  return result;
}

Result failed(const std::string& name) {
  return {.name = name,
          .failure = Failure{.kind = FailureKind::kCrashed,
                             .stage = Stage::kExecute,
                             .message = "It was killed.\nMore."}};
}

Result expected_to_fail(Result result, FailureKind kind) {
  result.expected_failure = ExpectedFailure{.kind = kind, .reason = "its kernel"};
  return result;
}

TEST(ProgressTest, ALineHasVerdictAndFigureOrReason) {
  EXPECT_EQ(result_line(passed("A"), true),
            "A  \x1b[32mPASSED\x1b[0m  max abs. error 0, within the tolerance");
  EXPECT_THAT(result_line(failed("A"), true), HasSubstr("\x1b[31mFAILED\x1b[0m"));
  EXPECT_EQ(result_line(failed("A")), "A  FAILED  crashed in execute: It was killed.");
  EXPECT_EQ(result_line(expected_to_fail(failed("A"), FailureKind::kCrashed)),
            "A  FAILED AS EXPECTED  crashed: its kernel");
  EXPECT_EQ(result_line(expected_to_fail(failed("A"), FailureKind::kTimedOut)),
            "A  FAILED  crashed in execute: It was killed.");
  EXPECT_EQ(result_line(expected_to_fail(passed("A"), FailureKind::kCrashed)),
            "A  PASSED UNEXPECTEDLY  expected crashed: its kernel");
  Result result = passed("A");
  result.executor = ExecutorReport{
      .num_nodes = 3, .nodes = {{"relu", {.place = "host"}}, {"softmax", {.place = "host"}}}};
  EXPECT_EQ(result_line(result),
            "A  PASSED  max abs. error 0, within the tolerance, but 2 of 3 nodes on the host");
}

// The search for a reproducer may take longer than all else.
TEST(ProgressTest, TheVerdictComesBeforeTheReproducer) {
  Result result = failed("A");
  std::ostringstream lines;
  Progress progress(1, &lines, nullptr, {.reports = "out"});
  progress.start("A");
  progress.judge(result);
  EXPECT_EQ(lines.str(), "[1/1] A  FAILED  crashed in execute: It was killed.\n");
  result.reproducer = Reproducer{.num_nodes = 2, .first_node = "a", .last_node = "b"};
  progress.finish(result);
  EXPECT_THAT(lines.str(), EndsWith("killed.\n    reproducer: 2 nodes in out/repro/A\n"));
}

TEST(ProgressTest, ALineBelowSaysWhatIsKnownOfTheNodes) {
  Result result = passed("A");
  EXPECT_EQ(finding_line(result), "");
  result.not_tried = {"zeros and ones: the model raises \n"};
  EXPECT_EQ(finding_line(result), "    not tried with zeros and ones: the model raises \\x0a\n");
  result.not_tried.clear();
  result.nodes = NodeReport{.num_not_handed_back = 2};
  EXPECT_EQ(finding_line(result), "    2 values were not returned\n");
  result.nodes =
      NodeReport{.num_not_handed_back = 1, .unknown = {"a", "b\n", "c", "d"}, .num_unknown = 60};
  EXPECT_EQ(finding_line(result),
            "    1 value was not returned; ignored unknown values: a, b\\x0a, c and 57 more\n");
  result.nodes = NodeReport{.num_compared = 7, .num_not_judged = 2};
  result.nodes->not_judged = {{"fused", "it draws random numbers"}};
  EXPECT_EQ(result.status(), Status::kPassed);
  EXPECT_EQ(finding_line(result),
            "    2 values were not judged; the first is fused: it draws random numbers\n");
  result.nodes->num_not_judged = 1;
  EXPECT_EQ(finding_line(result),
            "    1 value was not judged; it is fused: it draws random numbers\n");
  result.nodes = NodeReport{.num_compared = 7, .num_mismatched = 1, .num_exonerated = 1};
  result.nodes->exonerated = {{.index = 1, .node = "mul", .op_type = "m", .value = "mul"}};
  result.nodes->exonerated[0].comparison.mismatch = "dtype int32, expected int64";
  EXPECT_THAT(result_line(result), StartsWith("A  PASSED  "));
  EXPECT_EQ(finding_line(result),
            "    node 1, mul: was only returned wrong, dtype int32, expected int64\n");
}

TEST(ProgressTest, WhereNothingIsComparedItSaysWhy) {
  Result result = passed("A");
  result.trials[0].verification.output_details.clear();
  result.graph.emplace();
  EXPECT_EQ(result_line(result), "A  PASSED  nothing compared: the graph has no outputs");
  result.graph->graph_outputs.emplace_back();
  EXPECT_THAT(result_line(result), HasSubstr(": the expected outputs are unknown"));
}

// A bar, in a terminal of `width_` columns, at `time_`.
class BarTest : public ::testing::Test {
 protected:
  ProgressOptions options() {
    return {.width = [this] { return width_; },
            .now = [this] { return std::chrono::steady_clock::time_point(time_); }};
  }
  // The text that the terminal shows, after the last \r\x1b[K.
  std::string shown() const {
    const std::string text = bar_.str();
    return text.substr(text.rfind("\x1b[K") + 3);
  }

  int width_ = 80;
  std::chrono::seconds time_ = std::chrono::seconds(0);
  std::ostringstream lines_;
  std::ostringstream bar_;
};

TEST_F(BarTest, ShowsCountsTimeAndWhatRunsAndIsDrawnOnlyWhenItChanges) {
  Progress progress(4, &lines_, &bar_, options());
  progress.start("A");
  EXPECT_EQ(shown(), "[........................] 0/4  0:00  A");
  const std::string before = bar_.str();
  progress.tick();
  EXPECT_EQ(bar_.str(), before);
  progress.start("B");
  time_ = std::chrono::seconds(75);
  progress.tick();
  EXPECT_EQ(shown(), "[........................] 0/4  1:15  A, B");
  progress.finish(failed("A"));
  EXPECT_EQ(shown(), "[######..................] 1/4, 1 failed  1:15  B");
  time_ = std::chrono::seconds(3723);
  progress.tick();
  EXPECT_THAT(shown(), HasSubstr("  1:02:03  B"));
}

TEST_F(BarTest, FitsIntoItsTerminalAndIsNotCutInsideACharacter) {
  Progress progress(4, &lines_, &bar_, options());
  progress.start("äöüßAVeryLongNameOfAModelThatGoesOn");
  width_ = 62;
  progress.tick();
  EXPECT_EQ(shown(), "[........................] 0/4  0:00  äöüßAVeryLongNameOfAMod");
  width_ = 20;
  progress.tick();
  EXPECT_EQ(shown(), "0/4  0:00  äöüßAVer");
  width_ = 15;
  progress.tick();
  EXPECT_EQ(shown(), "0/4  0:00  äöü");
  width_ = 1;
  progress.tick();
  EXPECT_EQ(shown(), "");
}

TEST_F(BarTest, LinesStandInColumnsWithoutATimeAndTheBarIsGoneInTheEnd) {
  ProgressOptions wide = options();
  wide.name_width = 3;
  {
    Progress progress(10, &lines_, &bar_, wide);
    progress.start("A");
    time_ = std::chrono::seconds(7);
    progress.finish(passed("A"));
  }
  EXPECT_EQ(lines_.str(), "[ 1/10] A    PASSED  max abs. error 0, within the tolerance\n");
  EXPECT_EQ(shown(), "");
}

}  // namespace
}  // namespace torch_ir
