// RatioReporter: the console report of the benchmarks, with ratios to eager at the end.
// tools/benchmark_table.py computes their intervals from the files of --benchmark_out=FILE.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <vector>

namespace torch_ir {

class RatioReporter : public benchmark::ConsoleReporter {
 public:
  // CPU time ignores other load on the machine, but counts one thread only.
  explicit RatioReporter(bool is_cpu_time)
      // Columns of counters would repeat the header wherever the next benchmark has others.
      : ConsoleReporter(OO_None), is_cpu_time_(is_cpu_time) {}

  void ReportRuns(const std::vector<Run>& runs) override;

  // Prints a line for each model and engine other than "eager": the median of its per-round time
  // ratios to "eager", and how much of its time the counter limit_us is. Prints nothing if there
  // are no execute/MODEL/ENGINE benchmarks.
  void print_ratios();

  bool has_errors() const { return has_errors_; }

 private:
  bool is_cpu_time_;
  // Seconds per run, by model and engine.
  std::map<std::string, std::map<std::string, std::vector<double>>> times_;
  // By model.
  std::map<std::string, double> limits_;
  bool has_errors_ = false;
};

}  // namespace torch_ir
