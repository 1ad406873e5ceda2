#include "harness/benchmark/ratio_reporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  explicit Report(bool is_cpu_time = true) : reporter(is_cpu_time) {
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
  EXPECT_THAT(report.text(),
              HasSubstr("model                engine   eager us         us   ratio\n"
                        "Net                  exact         2.0        1.0   0.500\n"
                        "Other                exact         1.0        2.0   2.000\n"));
}

TEST(RatioReporter, TakesTheTimeThatIsAskedFor) {
  Report report(/*is_cpu_time=*/false);
  report.reporter.ReportRuns(repetitions("execute/Net/eager", {2e-6}));
  report.reporter.ReportRuns(repetitions("execute/Net/fast", {1e-6}));
  EXPECT_THAT(report.text(), HasSubstr("   0.250\n"));
}

TEST(RatioReporter, SaysHowNearToTheLimit) {
  Report report;
  report.reporter.ReportRuns(repetitions("execute/Net/eager", {8e-6}));
  std::vector<Repetition> runs = repetitions("execute/Net/fast", {2e-6});
  runs[0].counters["limit_us"] = 1.5;
  report.reporter.ReportRuns(runs);
  EXPECT_THAT(report.text(), HasSubstr("   0.250      75 %\n"));
}

TEST(RatioReporter, HasNoTableWithoutEngines) {
  Report report;
  report.reporter.ReportRuns(repetitions("load/Net", {1e-6}));
  report.reporter.ReportRuns(repetitions("execute/Net/exact", {1e-6}));
  EXPECT_THAT(report.text(), Not(HasSubstr("eager us")));
}

// Google Benchmark 1.8 renamed the members.
template <class Run>
void fail(Run& run, const std::string& message) {
  if constexpr (requires { run.error_occurred; }) {
    run.error_occurred = true;
    run.error_message = message;
  } else {
    run.skipped = static_cast<decltype(run.skipped)>(2);
    run.skip_message = message;
  }
}

TEST(RatioReporter, KeepsErrors) {
  Report report;
  std::vector<Repetition> runs = repetitions("execute/Net/exact", {1e-6});
  EXPECT_FALSE(report.reporter.has_errors());
  fail(runs[0], "no such model");
  report.reporter.ReportRuns(runs);
  EXPECT_TRUE(report.reporter.has_errors());
  EXPECT_THAT(report.text(), HasSubstr("no such model"));
}

}  // namespace
}  // namespace torch_ir
