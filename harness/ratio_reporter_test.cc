#include "torch_ir/harness/ratio_reporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Repetition = benchmark::BenchmarkReporter::Run;

// Repetitions of a benchmark that took `seconds` each.
std::vector<Repetition> repetitions(const std::string& name, const std::vector<double>& seconds) {
  std::vector<Repetition> runs;
  for (const double time : seconds) {
    Repetition run;
    run.run_name.function_name = name;
    run.run_type = Repetition::RT_Iteration;
    run.iterations = 10;
    run.repetitions = static_cast<int64_t>(seconds.size());
    run.real_accumulated_time = 1;  // Not looked at.
    run.cpu_accumulated_time = time * 10;
    runs.push_back(run);
  }
  return runs;
}

struct Report {
  Report() {
    reporter.SetOutputStream(&out);
    reporter.SetErrorStream(&out);
  }
  std::string text() {
    reporter.print_ratios();
    return out.str();
  }
  std::ostringstream out;
  RatioReporter reporter;
};

TEST(Spread, IsTheMiddleHalf) {
  const Spread spread = spread_of({5, 1, 4, 2, 3});
  EXPECT_EQ(spread.low, 2);
  EXPECT_EQ(spread.median, 3);
  EXPECT_EQ(spread.high, 4);
  EXPECT_EQ(spread_of({1, 2}).median, 1.5);
  EXPECT_EQ(spread_of({7}).low, 7);
}

TEST(RatioReporter, ComparesEnginesWithEagerRoundByRound) {
  Report report;
  report.reporter.ReportRuns(repetitions("execute/Net/eager", {1e-6, 2e-6, 4e-6}));
  report.reporter.ReportRuns(repetitions("execute/Net/exact", {0.5e-6, 1e-6, 4e-6}));
  report.reporter.ReportRuns(repetitions("execute/Other/eager", {1e-6}));
  report.reporter.ReportRuns(repetitions("execute/Other/exact", {2e-6}));
  const std::string text = report.text();
  EXPECT_THAT(text, HasSubstr("model                engine       eager us         us   ratio   "
                              "middle half\n"
                              "Net                  exact             2.0        1.0   0.500   "
                              "0.500 .. 0.750\n"
                              "Other                exact             1.0        2.0   2.000   "
                              "2.000 .. 2.000\n"
                              "geometric mean       exact                              1.000\n"));
}

TEST(RatioReporter, HasNoTableWithoutEngines) {
  Report report;
  report.reporter.ReportRuns(repetitions("load/Net", {1e-6}));
  report.reporter.ReportRuns(repetitions("execute/Net/exact", {1e-6}));
  EXPECT_THAT(report.text(), Not(HasSubstr("eager us")));
}

TEST(RatioReporter, KeepsErrors) {
  Report report;
  std::vector<Repetition> runs = repetitions("execute/Net/exact", {1e-6});
  EXPECT_FALSE(report.reporter.has_errors());
  runs[0].error_occurred = true;
  runs[0].error_message = "no such model";
  report.reporter.ReportRuns(runs);
  EXPECT_TRUE(report.reporter.has_errors());
  EXPECT_THAT(report.text(), HasSubstr("no such model"));
}

}  // namespace
}  // namespace torch_ir
