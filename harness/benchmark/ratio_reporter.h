// RatioReporter: the console report of the benchmarks, which ends with ratios to eager; and how
// much faster one engine is than another, from repeated and interleaved rounds.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <vector>

namespace torch_ir {

// A median, and where it lies with a probability of 95 %.
struct Estimate {
  double low = 0;
  double median = 0;
  double high = 0;
};

// Of the ratios times[i] / base[i], round by round; rounds that only one side has are left out, and
// at least one must be left.
//
// The interval is that of order statistics, which asks nothing of the distribution: of n sorted
// ratios the k-th smallest to the k-th greatest, with the greatest k for which
// 2 P(B < k) <= 0.05, B being the number of heads in n throws of a coin. For 15 rounds k is 4.
// Fewer than 6 rounds can not give 95 %: then it is all of them, and covers less.
Estimate estimate_ratio(const std::vector<double>& times, const std::vector<double>& base);

// The n-th root of the product of `ratios`, which must not be empty.
double geometric_mean(const std::vector<double>& ratios);

// The middle, or the mean of the two that are. `values` must not be empty.
double median(std::vector<double> values);

// Which of a benchmark's times count.
enum class TimeKind {
  // What the benchmark's thread worked, whatever else the machine did. For one thread.
  kCpu,
  // What passed. For several threads.
  kReal,
};

// Prints a line a benchmark (of repeated ones the median), and gathers the times of those called
// execute/MODEL/ENGINE.
class RatioReporter : public benchmark::ConsoleReporter {
 public:
  explicit RatioReporter(TimeKind time);

  void ReportRuns(const std::vector<Run>& runs) override;

  // A table of the other engines' times in relation to "eager", one line a model and engine: the
  // median of the ratios of all rounds and its 95 % interval (estimate_ratio); then the
  // geometric mean of each engine's medians. Nothing when no benchmark of that kind ran.
  void print_ratios();

  // Whether a benchmark failed.
  bool has_errors() const { return has_errors_; }

 private:
  TimeKind time_;
  // Seconds a run, by engine, by model.
  std::map<std::string, std::map<std::string, std::vector<double>>> times_;
  bool has_errors_ = false;
};

}  // namespace torch_ir
