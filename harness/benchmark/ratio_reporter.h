// RatioReporter: the console report of the benchmarks, which ends with ratios to eager.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <vector>

namespace torch_ir {

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
  // median of the ratios of all rounds and its 95 % interval (ratio_statistics.h); then the
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
