#include "harness/benchmark/ratio_reporter.h"

#include <fmt/format.h>

#include <cstddef>
#include <ostream>

#include "harness/benchmark/ratio_statistics.h"

namespace torch_ir {
namespace {

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
