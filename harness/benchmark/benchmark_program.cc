#include "harness/benchmark/benchmark_program.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torch/version.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/runtime/graph/execution_options.h"

namespace torch_ir {
namespace {

constexpr std::string_view kHelp =
    "  --threads N  number of LibTorch threads (default: 1; 0: all cores)\n"
    "  --pt2 FILE   archive of torch.export.save to time, or folder of archives,\n"
    "               in addition to the registered models; may be repeated\n";
// Extraction warns that constants on the meta device have no values; printing that thousands of
// times would distort the timings.
class NoWarnings : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

// Google Benchmark 1.8 renamed the member.
template <class Run>
bool has_failed(const Run& run) {
  if constexpr (requires { run.error_occurred; }) {
    return run.error_occurred;
  } else {
    return run.skipped != decltype(run.skipped)();
  }
}

// Prints the median of each benchmark's rounds.
class MedianReporter : public benchmark::ConsoleReporter {
 public:
  // Columns of counters would repeat the header wherever the next benchmark has others.
  MedianReporter() : ConsoleReporter(OO_None) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> shown;
    for (const Run& run : runs) {
      has_errors |= has_failed(run);
      const bool is_only_round = run.run_type == Run::RT_Iteration && run.repetitions <= 1;
      if (has_failed(run) || is_only_round || run.aggregate_name == "median") shown.push_back(run);
    }
    ConsoleReporter::ReportRuns(shown);
  }

  bool has_errors = false;
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

BenchmarkFlags parse_benchmark_flags(const std::vector<std::string>& arguments) {
  BenchmarkFlags flags;
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  app.add_option("--threads", flags.threads)->check(CLI::Range(0, 1024))->take_last();
  app.add_option("--pt2", flags.archives)->expected(1)->take_all();
  try {
    // CLI11 wants the arguments in reverse.
    app.parse(std::vector<std::string>(arguments.rbegin(), std::prev(arguments.rend())));
  } catch (const CLI::Error& error) {
    throw Error(error.what());
  }
  flags.rest = {arguments.front(), "--benchmark_repetitions=15",
                "--benchmark_enable_random_interleaving=true", "--benchmark_min_time=0.02"};
  std::ranges::move(app.remaining(), std::back_inserter(flags.rest));
  return flags;
}

void add_benchmark(const std::string& name, std::function<void(benchmark::State&)> benchmark) {
  benchmark::internal::Benchmark* added = benchmark::RegisterBenchmark(
      name.c_str(), [run = std::move(benchmark)](benchmark::State& state) {
        try {
          run(state);
        } catch (const std::exception& error) {
          state.SkipWithError(error.what());
        }
      });
  // CPU time counts the benchmark's own thread only.
  if (at::get_num_threads() != 1) added->UseRealTime();
}

int run_benchmarks(int argc, char** argv, const AddBenchmarks& add_benchmarks) {
  if (std::find(argv, argv + argc, std::string_view("--help")) != argv + argc) {
    fmt::print("{}\nFlags of Google Benchmark:\n\n", kHelp);
    benchmark::PrintDefaultHelp();
    return 0;
  }
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
  benchmark::AddCustomContext("threads", std::to_string(at::get_num_threads()));
  benchmark::AddCustomContext("libtorch", TORCH_VERSION);
  if (const auto version = onednn_version()) benchmark::AddCustomContext("onednn", *version);
  benchmark::AddCustomContext("cpu_capability", at::get_cpu_capability());
  try {
    // Flags name files relative to the caller's directory.
    enter_user_directory();
    add_benchmarks(flags.archives);
  } catch (const Error& error) {
    return fail(error.what());
  }
  MedianReporter reporter;
  const size_t num_run = benchmark::RunSpecifiedBenchmarks(&reporter);
  return num_run == 0 || reporter.has_errors ? 1 : 0;
}

}  // namespace torch_ir
