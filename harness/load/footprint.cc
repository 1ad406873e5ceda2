#include "harness/load/footprint.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "harness/load/load.h"

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

}  // namespace

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
    heap = fmt::format("heap {} at most, {} left",
                       size_text(static_cast<double>(allocations->peak_bytes)),
                       size_text(static_cast<double>(allocations->left_bytes)));
  }
  return fmt::format("{:.3g} s, {}, resident {} -> {}", footprint.seconds, heap,
                     size_text(static_cast<double>(footprint.resident_before)),
                     size_text(static_cast<double>(footprint.resident_after)));
}

void require_flat(const Footprint& footprint, int64_t bytes) {
  if (!footprint.allocations) return;
  const int64_t left = footprint.allocations->left_bytes;
  require(left <= bytes && footprint.resident_growth() <= bytes + kAllocatorBytes,
          fmt::format("memory grew by more than {}: {}", size_text(static_cast<double>(bytes)),
                      footprint_text(footprint)));
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
