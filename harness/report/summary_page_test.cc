// SUMMARY.md.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/report/testing/page_test_results.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(SummaryTest, CountsAndNamesEveryStatus) {
  const Result expected = make_known("rounds | twice");
  Result unexpected = make_result();
  unexpected.name = "Healed";
  unexpected.expected_failure = expected.expected_failure;
  Result off = make_mismatch();
  off.nodes = make_nodes();
  const std::string page =
      summary_of({make_result(), off, expected, unexpected, make_failure()}, {.num_registered = 5});
  EXPECT_THAT(page, StartsWith("# Summary\n\n❌ **1 of 5 models passed**, 2 failed, 1 passed "
                               "unexpectedly, 1 failed as expected\n\nThis run covers all 5 "
                               "registered models. To search, filter and sort: "));
  expect_in(page,
            {"| [Known](Known.md) | output mismatch | rounds \\| twice |",
             "| node 3, add: 12 of 2,048 elements wrong, by at most 0.5 |  |\n"
             "| [Healed](Healed.md) | passes, but is expected to fail: output mismatch: "
             "rounds \\| twice |  |\n"
             "| [Broken](Broken.md) | extract failed: aten::item \\| needs data |",
             "| `a` | 5 | 1 | 2 | 0 | 1 | 1 |\n", "🟡\u00a0EXPECTED\u00a0FAILURE",
             "| [Broken](Broken.md) | ❌\u00a0FAILED | `a` |  |  |  |  |  |  |  |  |  |  |\n"});
}

TEST(SummaryTest, SaysWhatItCovers) {
  const auto imported = [](FileFormat format) {
    Result result = make_result();
    result.origin = ModelFiles{.format = format, .path = "a/x"};
    return result;
  };
  const std::vector<Result> archives(3, imported(FileFormat::kArchive));
  std::vector<Result> results = archives;
  results.push_back(make_result());
  results.push_back(imported(FileFormat::kGraph));
  Coverage coverage{.selection = {.models = {"Tiny"}, .categories = {"a", "b"}},
                    .files = {{.path = "a/x.pt2"}, {.path = "/c/models/"}},
                    .num_registered = 12};
  EXPECT_THAT(summary_of(results, coverage),
              HasSubstr("This run covers 1 of the 12 registered models, in category `a`, `b`, "
                        "selected by name, and 3 archives and 1 graph. Pages of other models may "
                        "be from other runs."));
  coverage.selection = {};
  expect_in(summary_of(archives, coverage),
            {"This run covers 3 archives. Pages of other",
             "tools/bazel run //harness -- --pt2 a/x.pt2 --pt2 /c/models/\n"});
}

TEST(SummaryTest, AllAsExpectedIsGoodAndNeedsNoGraphThatWasDropped) {
  Result expected = make_known("known");
  const std::string page = summary_of({make_result(), expected});
  EXPECT_THAT(page, AllOf(HasSubstr("✅ **1 of 2 models passed**, 1 failed as expected\n"),
                          Not(HasSubstr("## Failures"))));
  expected.drop_graph();
  EXPECT_FALSE(expected.graph);
  EXPECT_EQ(summary_of({make_result(), expected}), page);
}

TEST(SummaryTest, SaysWhatHasChanged) {
  const RunRecord run{.context = {.baseline = "old/results.json"}, .results = {make_result()}};
  const BaselineComparison none;
  EXPECT_THAT(render_summary(run, &none),
              HasSubstr("Compared with `old/results.json`: no changes.\n"));
  const BaselineComparison some{.notes = {"LibTorch: 2.12 -> 2.13"},
                                .models = {{.model = "Tiny",
                                            .trend = Trend::kWorse,
                                            .changes = {{.what = "a | b"}, {.what = "c"}}}}};
  expect_in(render_summary(run, &some),
            {"LibTorch: 2.12 -\\> 2.13.\n", "| Tiny | worse | a \\| b changed<br>c changed |\n"});
}

}  // namespace
}  // namespace torch_ir
