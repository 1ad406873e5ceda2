#include "harness/benchmark/ratio_reporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <sstream>
#include <vector>

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
    run.real_accumulated_time = time * time * 1e7;
    run.cpu_accumulated_time = time * 10;
    runs.push_back(run);
  }
  return runs;
}

struct Report {
  explicit Report(TimeKind time = TimeKind::kCpu) : reporter(time) {
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

TEST(RatioReporter, ComparesEnginesWithEagerRoundByRound) {
  Report report;
  report.reporter.ReportRuns(repetitions("execute/Net/eager", {1e-6, 2e-6, 4e-6}));
  report.reporter.ReportRuns(repetitions("execute/Net/exact", {0.5e-6, 1e-6, 4e-6}));
  report.reporter.ReportRuns(repetitions("execute/Other/eager", {1e-6}));
  report.reporter.ReportRuns(repetitions("execute/Other/exact", {2e-6}));
  const std::string text = report.text();
  EXPECT_THAT(
      text,
      HasSubstr("model                engine                  eager us         us   ratio   95 %\n"
                "Net                  exact                        2.0        1.0   0.500   0.500 "
                ".. 1.000\n"
                "Other                exact                        1.0        2.0   2.000   2.000 "
                ".. 2.000\n"
                "geometric mean       exact                                         1.000\n"));
}

TEST(RatioReporter, TakesTheTimeThatIsAskedFor) {
  Report report(TimeKind::kReal);
  report.reporter.ReportRuns(repetitions("execute/Net/eager", {2e-6}));
  report.reporter.ReportRuns(repetitions("execute/Net/fast", {1e-6}));
  EXPECT_THAT(report.text(), HasSubstr("   0.250   0.250 .. 0.250\n"));
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

// Estimates from 1, 2, ..., n.
Estimate of_first(int n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1);
  return estimate_ratio(values, std::vector<double>(n, 1));
}

// The ranks that tables of the sign test give.
TEST(EstimateRatio, HasTheIntervalOfOrderStatistics) {
  EXPECT_EQ(of_first(6).low, 1);
  EXPECT_EQ(of_first(6).high, 6);
  EXPECT_EQ(of_first(9).low, 2);
  EXPECT_EQ(of_first(9).high, 8);
  EXPECT_EQ(of_first(15).low, 4);
  EXPECT_EQ(of_first(15).median, 8);
  EXPECT_EQ(of_first(15).high, 12);
  EXPECT_EQ(of_first(20).low, 6);
  EXPECT_EQ(of_first(20).high, 15);
  EXPECT_EQ(of_first(100).low, 40);
  EXPECT_EQ(of_first(100).median, 50.5);
  EXPECT_EQ(of_first(100).high, 61);
}

TEST(EstimateRatio, IsAllRoundsWhereTheyAreFew) {
  EXPECT_EQ(of_first(1).low, 1);
  EXPECT_EQ(of_first(1).high, 1);
  EXPECT_EQ(of_first(2).median, 1.5);
  EXPECT_EQ(of_first(5).low, 1);
  EXPECT_EQ(of_first(5).high, 5);
}

// The expected values are NumPy's.
TEST(EstimateRatio, PairsTheRounds) {
  const std::vector<double> times = {2.61, 2.62, 2.03, 1.57, 1.11, 1.77, 1.82, 1.09,
                                     1.1,  3.0,  2.3,  1.47, 1.87, 2.95, 2.8};
  const std::vector<double> base = {3.69, 2.78, 2.99, 3.35, 2.12, 3.11, 2.54, 3.76,
                                    2.13, 3.36, 3.74, 2.45, 3.79, 3.74, 2.04};
  const Estimate estimate = estimate_ratio(times, base);
  EXPECT_DOUBLE_EQ(estimate.low, 0.5164319248826291);
  EXPECT_DOUBLE_EQ(estimate.median, 0.6149732620320855);
  EXPECT_DOUBLE_EQ(estimate.high, 0.7887700534759359);
}

TEST(EstimateRatio, LeavesOutRoundsOfOneSide) {
  const Estimate estimate = estimate_ratio({1, 2, 100}, {2, 4});
  EXPECT_EQ(estimate.low, 0.5);
  EXPECT_EQ(estimate.high, 0.5);
}

TEST(GeometricMean, IsTheRootOfTheProduct) {
  EXPECT_DOUBLE_EQ(geometric_mean({0.25, 4}), 1);
  EXPECT_DOUBLE_EQ(geometric_mean({0.5}), 0.5);
  EXPECT_NEAR(geometric_mean({0.2, 0.4, 0.9}), 0.41601676461038104, 1e-15);
}

}  // namespace
}  // namespace torch_ir
