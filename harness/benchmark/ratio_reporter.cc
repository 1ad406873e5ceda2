#include "harness/benchmark/ratio_reporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ostream>

namespace torch_ir {
namespace {

// The probability of `heads` heads in n throws of a coin.
double probability(size_t heads, size_t n) {
  const auto count = static_cast<double>(n);
  const auto part = static_cast<double>(heads);
  return std::exp(std::lgamma(count + 1) - std::lgamma(part + 1) - std::lgamma(count - part + 1) -
                  count * std::log(2.0));
}

// How many of n sorted values lie below the interval of their median, and as many above.
size_t num_outside(size_t n) {
  size_t outside = 0;
  double below = probability(0, n);
  while (2 * (below += probability(outside + 1, n)) <= 0.05) ++outside;
  return outside;
}

double middle(const std::vector<double>& sorted) {
  const size_t n = sorted.size();
  return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

// The parts of execute/MODEL/ENGINE; empty for another name.
std::vector<std::string> parts_of(const std::string& name) {
  const size_t first = name.find('/');
  const size_t last = name.rfind('/');
  if (first == last || name.substr(0, first) != "execute") return {};
  return {name.substr(first + 1, last - first - 1), name.substr(last + 1)};
}

std::string line(const std::string& model, const std::string& engine,
                 const std::vector<double>& times, const std::vector<double>& base,
                 const Estimate& ratio) {
  return fmt::format("{:<20} {:<21} {:>10.1f} {:>10.1f} {:>7.3f}   {:.3f} .. {:.3f}\n", model,
                     engine, median(base) * 1e6, median(times) * 1e6, ratio.median, ratio.low,
                     ratio.high);
}

}  // namespace

Estimate estimate_ratio(const std::vector<double>& times, const std::vector<double>& base) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(times.size(), base.size()); ++i) {
    ratios.push_back(times[i] / base[i]);
  }
  std::sort(ratios.begin(), ratios.end());
  const size_t outside = num_outside(ratios.size());
  return {ratios[outside], middle(ratios), ratios[ratios.size() - 1 - outside]};
}

double geometric_mean(const std::vector<double>& ratios) {
  double sum = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  return std::exp(sum / static_cast<double>(ratios.size()));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return middle(values);
}

RatioReporter::RatioReporter(TimeKind time) : ConsoleReporter(OO_Tabular), time_(time) {}

void RatioReporter::ReportRuns(const std::vector<Run>& runs) {
  std::vector<Run> shown;
  for (const Run& run : runs) {
    has_errors_ |= run.error_occurred;
    const bool is_iteration = run.run_type == Run::RT_Iteration;
    if (run.error_occurred || (is_iteration && run.repetitions <= 1) ||
        run.aggregate_name == "median") {
      shown.push_back(run);
    }
    if (!is_iteration || run.error_occurred || run.iterations == 0) continue;
    const std::vector<std::string> parts = parts_of(run.run_name.function_name);
    if (parts.empty()) continue;
    const double seconds =
        time_ == TimeKind::kCpu ? run.cpu_accumulated_time : run.real_accumulated_time;
    times_[parts[0]][parts[1]].push_back(seconds / static_cast<double>(run.iterations));
  }
  ConsoleReporter::ReportRuns(shown);
}

void RatioReporter::print_ratios() {
  std::string table;
  std::map<std::string, std::vector<double>> medians;
  for (const auto& [model, engines] : times_) {
    const auto eager = engines.find("eager");
    if (eager == engines.end()) continue;
    for (const auto& [engine, times] : engines) {
      if (engine == "eager") continue;
      const Estimate ratio = estimate_ratio(times, eager->second);
      table += line(model, engine, times, eager->second, ratio);
      medians[engine].push_back(ratio.median);
    }
  }
  if (table.empty()) return;
  for (const auto& [engine, ratios] : medians) {
    table += fmt::format("{:<20} {:<21} {:>10} {:>10} {:>7.3f}\n", "geometric mean", engine, "", "",
                         geometric_mean(ratios));
  }
  GetOutputStream() << fmt::format("\n{:<20} {:<21} {:>10} {:>10} {:>7}   {}\n", "model", "engine",
                                   "eager us", "us", "ratio", "95 %")
                    << table << std::flush;
}

}  // namespace torch_ir
