#include "torch_ir/harness/ratio_reporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ostream>

namespace torch_ir {
namespace {

// The parts of execute/MODEL/ENGINE; empty for another name.
std::vector<std::string> parts_of(const std::string& name) {
  const size_t first = name.find('/');
  const size_t last = name.rfind('/');
  if (first == last || name.substr(0, first) != "execute") return {};
  return {name.substr(first + 1, last - first - 1), name.substr(last + 1)};
}

// Round by round.
std::vector<double> ratios(const std::vector<double>& times, const std::vector<double>& base) {
  std::vector<double> result;
  for (size_t i = 0; i < std::min(times.size(), base.size()); ++i) {
    result.push_back(times[i] / base[i]);
  }
  return result;
}

std::string line(const std::string& model, const std::string& engine,
                 const std::vector<double>& times, const std::vector<double>& base) {
  const Spread ratio = spread_of(ratios(times, base));
  return fmt::format("{:<20} {:<10} {:>10.1f} {:>10.1f} {:>7.3f}   {:.3f} .. {:.3f}\n", model,
                     engine, spread_of(base).median * 1e6, spread_of(times).median * 1e6,
                     ratio.median, ratio.low, ratio.high);
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double part) {
    const double position = part * static_cast<double>(values.size() - 1);
    const auto below = static_cast<size_t>(position);
    const size_t above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above], position - static_cast<double>(below));
  };
  return {quantile(0.25), quantile(0.5), quantile(0.75)};
}

RatioReporter::RatioReporter() : ConsoleReporter(OO_Tabular) {}

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
    times_[parts[0]][parts[1]].push_back(run.cpu_accumulated_time /
                                         static_cast<double>(run.iterations));
  }
  ConsoleReporter::ReportRuns(shown);
}

void RatioReporter::print_ratios() {
  std::string table;
  std::map<std::string, std::vector<double>> logarithms;
  for (const auto& [model, engines] : times_) {
    const auto eager = engines.find("eager");
    if (eager == engines.end()) continue;
    for (const auto& [engine, times] : engines) {
      if (engine == "eager") continue;
      table += line(model, engine, times, eager->second);
      logarithms[engine].push_back(std::log(spread_of(ratios(times, eager->second)).median));
    }
  }
  if (table.empty()) return;
  for (const auto& [engine, logs] : logarithms) {
    double sum = 0;
    for (const double log : logs) sum += log;
    table += fmt::format("{:<20} {:<10} {:>10} {:>10} {:>7.3f}\n", "geometric mean", engine, "", "",
                         std::exp(sum / static_cast<double>(logs.size())));
  }
  GetOutputStream() << fmt::format("\n{:<20} {:<10} {:>10} {:>10} {:>7}   {}\n", "model", "engine",
                                   "eager us", "us", "ratio", "middle half")
                    << table << std::flush;
}

}  // namespace torch_ir
