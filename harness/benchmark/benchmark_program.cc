#include "harness/benchmark/benchmark_program.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torch/version.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <utility>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "harness/benchmark/benchmark_flags.h"
#include "harness/benchmark/ratio_reporter.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

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

int fail(const std::string& reason) {
  fmt::print(stderr, "{}\n", reason);
  return 2;
}

}  // namespace

void add_benchmark(const std::string& name, std::function<void(benchmark::State&)> benchmark) {
  benchmark::internal::Benchmark* added = benchmark::RegisterBenchmark(
      name.c_str(), [run = std::move(benchmark)](benchmark::State& state) {
        try {
          run(state);
        } catch (const std::exception& error) {
          state.SkipWithError(error.what());
        }
      });
  // What the benchmark's own thread works says little about several.
  if (at::get_num_threads() != 1) added->UseRealTime();
}

int run_benchmarks(int argc, char** argv, const std::function<void()>& add_benchmarks) {
  keep_memory_from_the_system();
  NoWarnings no_warnings;
  const c10::WarningUtils::WarningHandlerGuard guard(&no_warnings);

  BenchmarkFlags flags;
  try {
    flags = parse_benchmark_flags({argv, argv + argc});
  } catch (const Error& error) {
    return fail(error.what());
  }
  if (flags.threads != 0) at::set_num_threads(flags.threads);

  std::vector<char*> pointers;
  for (std::string& flag : flags.rest) pointers.push_back(flag.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return 2;
  // The files that flags name are the caller's.
  try {
    enter_user_directory();
  } catch (const Error& error) {
    return fail(error.what());
  }

  benchmark::AddCustomContext("threads", std::to_string(at::get_num_threads()));
  benchmark::AddCustomContext("libtorch", TORCH_VERSION);
  benchmark::AddCustomContext("cpu_capability", at::get_cpu_capability());
  add_benchmarks();
  RatioReporter reporter(at::get_num_threads() == 1 ? TimeKind::kCpu : TimeKind::kReal);
  const size_t num_run = benchmark::RunSpecifiedBenchmarks(&reporter);
  reporter.print_ratios();
  return num_run == 0 || reporter.has_errors() ? 1 : 0;
}

}  // namespace torch_ir
