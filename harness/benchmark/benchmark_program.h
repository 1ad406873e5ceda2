// What the benchmark programs have in common: their flags, their surroundings, their report.
//
// Flags are Google Benchmark's, and
//   --threads N   threads for LibTorch; 1 by default, 0 for all cores
//   --pt2 FILE    an archive to time; may be repeated
// --help prints them.
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
  std::vector<std::string> archives = {};
  // The program's name, our defaults, and the caller's flags. Google Benchmark takes the last of
  // several values of a flag, so the caller's win.
  std::vector<std::string> rest;
};

// `arguments` are those of main. Throws Error for a --threads that is no count up to 1024, and for
// a flag without its value.
BenchmarkFlags parse_benchmark_flags(const std::vector<std::string>& arguments);

// Registers a benchmark. One that throws fails with the message, and so does the program.
void add_benchmark(const std::string& name, std::function<void(benchmark::State&)> benchmark);

// Adds the benchmarks of a program. Throws Error for archives that it cannot time.
using AddBenchmarks = std::function<void(const std::vector<std::string>& archives)>;

// The main function: calls `add_benchmarks`, runs those that the flags choose, and prints the
// ratios to eager (ratio_reporter.h): in CPU time with one thread, in real time with more. Returns
// the exit status: 1 when one failed or none was chosen, 2 for flags that it does not know or that
// are wrong.
int run_benchmarks(int argc, char** argv, const AddBenchmarks& add_benchmarks);

}  // namespace torch_ir
