// RatioReporter: the console report of executor_benchmark, which ends with ratios.
#ifndef TORCH_IR_HARNESS_RATIO_REPORTER_H_
#define TORCH_IR_HARNESS_RATIO_REPORTER_H_

#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <vector>

namespace torch_ir {

// The middle half of some numbers.
struct Spread {
  double low = 0;
  double median = 0;
  double high = 0;
};

// Quartiles, interpolated between neighbours. `values` must not be empty.
Spread spread_of(std::vector<double> values);

// Prints a line a benchmark (of repeated ones the median), and gathers the times of those called
// execute/MODEL/ENGINE.
class RatioReporter : public benchmark::ConsoleReporter {
 public:
  RatioReporter();

  void ReportRuns(const std::vector<Run>& runs) override;

  // A table of the other engines' times in relation to "eager", one line a model and engine, and
  // the geometric mean of each engine. Nothing when no benchmark of that kind ran.
  void print_ratios();

  // Whether a benchmark failed.
  bool has_errors() const { return has_errors_; }

 private:
  // CPU seconds a run, by engine, by model: on one thread, and whatever else the machine does.
  std::map<std::string, std::map<std::string, std::vector<double>>> times_;
  bool has_errors_ = false;
};

}  // namespace torch_ir

#endif  // TORCH_IR_HARNESS_RATIO_REPORTER_H_
