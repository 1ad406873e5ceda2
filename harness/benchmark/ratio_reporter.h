// RatioReporter: the console report of the benchmarks, which ends with ratios to eager.
//
// tools/benchmark_table.py adds their intervals, from what --benchmark_out=FILE writes.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <vector>

namespace torch_ir {

// Prints a line a benchmark (of repeated ones the median), and gathers the times of those called
// execute/MODEL/ENGINE.
class RatioReporter : public benchmark::ConsoleReporter {
 public:
  // Of one thread counts what it worked, whatever else the machine did; of several the time that
  // passed.
  explicit RatioReporter(bool is_cpu_time)
      : ConsoleReporter(OO_Tabular), is_cpu_time_(is_cpu_time) {}

  void ReportRuns(const std::vector<Run>& runs) override;

  // A table of the other engines' times in relation to "eager", one line a model and engine: the
  // median of the ratios, round by round. Nothing when no benchmark of that kind ran.
  void print_ratios();

  // Whether a benchmark failed.
  bool has_errors() const { return has_errors_; }

 private:
  bool is_cpu_time_;
  // Seconds a run, by engine, by model.
  std::map<std::string, std::map<std::string, std::vector<double>>> times_;
  bool has_errors_ = false;
};

}  // namespace torch_ir
