// Runs the loads that are named, or all of them.
//
//   load [--small] [NAME]...
//
// --small is what the test runs. NAME may be the beginning of several: "threads/". One line each,
// on stdout: its name, its count, and its figures, or what went wrong; then the exit status is 1,
// and 2 where a name is the beginning of none.

#include "harness/load/load.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "harness/run/runner.h"
#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

// What malloc may keep for threads that are gone.
constexpr int64_t kAllocatorBytes = int64_t{16} << 20;

int64_t resident_bytes_of_self() {
  std::ifstream file("/proc/self/statm");
  int64_t size = 0;
  int64_t resident = 0;
  file >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

std::vector<Load> all_loads() {
  std::vector<Load> loads;
  for (const auto& family : {plan_loads, graph_loads, file_loads}) {
    std::ranges::move(family(), std::back_inserter(loads));
  }
  return loads;
}

bool run(const Load& load, int64_t count) {
  std::cout << fmt::format("{:<36} {:>9}  ", load.name, count) << std::flush;
  try {
    std::cout << load.run(count) << std::endl;
    return true;
  } catch (const std::exception& error) {
    std::cout << "FAILED: " << error.what() << std::endl;
    return false;
  }
}

int load_main(std::vector<std::string> names) {
  const bool is_small = std::erase(names, "--small") > 0;
  if (names.empty()) names.push_back("");
  const std::vector<Load> loads = all_loads();
  bool is_good = true;
  for (const std::string& name : names) {
    bool is_known = false;
    for (const Load& load : loads) {
      if (!load.name.starts_with(name)) continue;
      is_known = true;
      is_good = run(load, is_small ? load.small_count : load.full_count) && is_good;
    }
    if (!is_known) {
      std::cerr << "there is no load '" << name << "'\n";
      return 2;
    }
  }
  return is_good ? 0 : 1;
}

}  // namespace

ExecutionPlan plan_at(Optimization level, const IR& ir, const StateDict& weights) {
  ExecutionOptions options;
  options.optimization = level;
  return compile(ir, weights, StateDict(), options);
}

void require(bool is_so, const std::string& message) {
  if (!is_so) throw Error(message);
}

Footprint measure(const std::function<void()>& action) {
  using Clock = std::chrono::steady_clock;
  Footprint footprint{.resident_before = resident_bytes_of_self()};
  const Clock::time_point begin = Clock::now();
  footprint.allocations = count_allocations(action);
  footprint.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  footprint.resident_after = resident_bytes_of_self();
  return footprint;
}

std::string footprint_text(const Footprint& footprint) {
  std::string heap = "heap NOT COUNTED";
  if (const auto& allocations = footprint.allocations) {
    heap = fmt::format("heap {} at most, {} left", size_text(allocations->peak_bytes),
                       size_text(allocations->left_bytes));
  }
  return fmt::format("{:.3g} s, {}, resident {} -> {}", footprint.seconds, heap,
                     size_text(footprint.resident_before), size_text(footprint.resident_after));
}

void require_flat(const Footprint& footprint, int64_t bytes) {
  if (!footprint.allocations) return;
  const int64_t left = footprint.allocations->left_bytes;
  require(
      left <= bytes && footprint.resident_growth() <= bytes + kAllocatorBytes,
      fmt::format("memory grew by more than {}: {}", size_text(bytes), footprint_text(footprint)));
}

int64_t count_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

std::string size_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  for (; std::abs(bytes) >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

}  // namespace torch_ir

int main(int argc, char** argv) {
  if (const auto status = torch_ir::run_as_child(argc, argv)) return *status;
  return torch_ir::load_main({argv + 1, argv + argc});
}
