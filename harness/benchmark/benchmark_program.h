// What the benchmark programs have in common: their flags, their surroundings, their report.
//
// Flags are Google Benchmark's, and
//   --threads N   threads for LibTorch; 1 by default, 0 for all cores
// and one of the program's own, where it has one. --help prints them.
//
// Without other flags every benchmark runs 15 times, in an order drawn at random, so that a machine
// that slows down for a while slows all of them down alike. malloc gives nothing back to the
// system: glibc's default makes eager's time bimodal from process to process, by page faults.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

struct BenchmarkFlags {
  // Of LibTorch; 0 for one a core.
  int threads = 1;
  // Those of the program's own flag.
  std::vector<std::string> values = {};
  // The program's name, our defaults, and the caller's flags. Google Benchmark takes the last of
  // several values of a flag, so the caller's win.
  std::vector<std::string> rest;
};

// `arguments` are those of main, `own_flag` is one that the program has beside all others: it takes
// a value, and may be repeated. Throws Error for a --threads without a count, an `own_flag` without
// a value.
BenchmarkFlags parse_benchmark_flags(const std::vector<std::string>& arguments,
                                     std::string_view own_flag = "");

// Registers a benchmark. One that throws fails with the message, and so does the program.
void add_benchmark(const std::string& name, std::function<void(benchmark::State&)> benchmark);

// A flag that a program has beside all others; see parse_benchmark_flags.
struct OwnFlag {
  std::string_view name = {};
  // Its lines of --help.
  std::string_view help = {};
};

// Adds the benchmarks of a program, whose own flag was given with `values`. Throws Error where
// these are wrong.
using AddBenchmarks = std::function<void(const std::vector<std::string>& values)>;

// The main function: calls `add_benchmarks`, runs those that the flags choose, and prints the
// ratios to eager (ratio_reporter.h): in CPU time with one thread, in real time with more. Returns
// the exit status: 1 when one failed or none was chosen, 2 for flags that it does not know or that
// are wrong.
int run_benchmarks(int argc, char** argv, const AddBenchmarks& add_benchmarks,
                   const OwnFlag& own_flag = {});

}  // namespace torch_ir
