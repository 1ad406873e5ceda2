#include "torch_ir/harness/benchmark_program.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "torch_ir/harness/ratio_reporter.h"

namespace torch_ir {
namespace {

constexpr std::string_view kThreads = "--threads";
constexpr int kMostThreads = 1024;

// Extraction warns that constants on the meta device have no values. Writing that
// thousands of times would be what is measured.
class NoWarnings : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

void keep_memory_from_the_system() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, -1);  // Never.
  mallopt(M_TOP_PAD, 64 << 20);
#endif
}

std::optional<int> thread_count(std::string_view text) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!is_number || count < 0 || count > kMostThreads) return std::nullopt;
  return count;
}

// Takes --threads out of `flags`; nothing when its value is no count.
std::optional<int> take_threads(std::vector<std::string>& flags) {
  std::optional<int> threads = 1;
  for (size_t i = 1; i < flags.size() && threads;) {
    const std::string flag = flags[i];
    const bool has_value = flag.starts_with(std::string(kThreads) + "=");
    if (!has_value && flag != kThreads) {
      ++i;
      continue;
    }
    flags.erase(flags.begin() + static_cast<std::ptrdiff_t>(i));
    std::string value = has_value ? flag.substr(kThreads.size() + 1) : "";
    if (!has_value && i < flags.size()) {
      value = flags[i];
      flags.erase(flags.begin() + static_cast<std::ptrdiff_t>(i));
    }
    threads = thread_count(value);
  }
  return threads;
}

// Google Benchmark takes the last of several values of a flag, so the caller's win.
std::vector<std::string> with_default_flags(int argc, char** argv) {
  std::vector<std::string> flags = {argv[0], "--benchmark_repetitions=15",
                                    "--benchmark_enable_random_interleaving=true",
                                    "--benchmark_min_time=0.02"};
  flags.insert(flags.end(), argv + 1, argv + argc);
  return flags;
}

int fail(const std::string& reason) {
  fmt::print(stderr, "{}\n", reason);
  return 2;
}

}  // namespace

void add_benchmark(const std::string& name, std::function<void(benchmark::State&)> benchmark) {
  benchmark::RegisterBenchmark(name.c_str(), [run = std::move(benchmark)](benchmark::State& state) {
    try {
      run(state);
    } catch (const std::exception& error) {
      state.SkipWithError(error.what());
    }
  });
}

int run_benchmarks(int argc, char** argv, const std::function<void()>& add_benchmarks) {
  keep_memory_from_the_system();
  NoWarnings no_warnings;
  const c10::WarningUtils::WarningHandlerGuard guard(&no_warnings);

  std::vector<std::string> flags = with_default_flags(argc, argv);
  const std::optional<int> threads = take_threads(flags);
  if (!threads) return fail("--threads takes a count, and 0 for all cores");
  if (*threads != 0) at::set_num_threads(*threads);

  std::vector<char*> pointers;
  for (std::string& flag : flags) pointers.push_back(flag.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return 2;
  // Under `bazel run`, the files that flags name are the caller's.
  const char* directory = std::getenv("BUILD_WORKING_DIRECTORY");
  if (directory != nullptr && chdir(directory) != 0) {
    return fail(fmt::format("can not enter {}", directory));
  }

  benchmark::AddCustomContext("threads", std::to_string(at::get_num_threads()));
  add_benchmarks();
  RatioReporter reporter(at::get_num_threads() == 1 ? TimeKind::kCpu : TimeKind::kReal);
  const size_t num_run = benchmark::RunSpecifiedBenchmarks(&reporter);
  reporter.print_ratios();
  return num_run == 0 || reporter.has_errors() ? 1 : 0;
}

}  // namespace torch_ir
