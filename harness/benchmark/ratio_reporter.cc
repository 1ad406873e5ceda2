#include "harness/benchmark/ratio_reporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace torch_ir {
namespace {

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

// Leaves out rounds that only one side has.
double median_ratio(const std::vector<double>& times, const std::vector<double>& base) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(times.size(), base.size()); ++i) {
    ratios.push_back(times[i] / base[i]);
  }
  return median(ratios);
}

// Google Benchmark 1.8 renamed the member.
template <class Run>
bool has_failed(const Run& run) {
  if constexpr (requires { run.error_occurred; }) {
    return run.error_occurred;
  } else {
    return run.skipped != decltype(run.skipped)();
  }
}

}  // namespace

void RatioReporter::ReportRuns(const std::vector<Run>& runs) {
  std::vector<Run> shown;
  for (const Run& run : runs) {
    has_errors_ |= has_failed(run);
    const bool is_iteration = run.run_type == Run::RT_Iteration;
    if (has_failed(run) || (is_iteration && run.repetitions <= 1) ||
        run.aggregate_name == "median") {
      shown.push_back(run);
    }
    if (!is_iteration || has_failed(run) || run.iterations == 0) continue;
    const std::string& name = run.run_name.function_name;
    const size_t model = name.find('/') + 1;
    const size_t engine = name.rfind('/') + 1;
    if (!name.starts_with("execute/") || model == engine) continue;
    const double seconds = is_cpu_time_ ? run.cpu_accumulated_time : run.real_accumulated_time;
    const std::string model_name = name.substr(model, engine - model - 1);
    times_[model_name][name.substr(engine)].push_back(seconds /
                                                      static_cast<double>(run.iterations));
    const auto limit = run.counters.find("limit_us");
    if (limit != run.counters.end()) limits_.insert_or_assign(model_name, limit->second.value);
  }
  ConsoleReporter::ReportRuns(shown);
}

void RatioReporter::print_ratios() {
  std::string table;
  for (const auto& [model, engines] : times_) {
    const auto eager = engines.find("eager");
    if (eager == engines.end()) continue;
    for (const auto& [engine, times] : engines) {
      if (engine == "eager") continue;
      const auto limit = limits_.find(model);
      const std::string share =
          limit == limits_.end() ? ""
                                 : fmt::format("{:>8.0f} %", limit->second / median(times) / 1e4);
      table += fmt::format("{:<20} {:<6} {:>10.1f} {:>10.1f} {:>7.3f}{}\n", model, engine,
                           median(eager->second) * 1e6, median(times) * 1e6,
                           median_ratio(times, eager->second), share);
    }
  }
  if (table.empty()) return;
  GetOutputStream() << fmt::format("\n{:<20} {:<6} {:>10} {:>10} {:>7}{}\n", "model", "engine",
                                   "eager us", "us", "ratio", limits_.empty() ? "" : "  of limit")
                    << table << std::flush;
}

}  // namespace torch_ir
