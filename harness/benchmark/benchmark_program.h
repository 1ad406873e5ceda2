// The flags, setup and report shared by the benchmark programs.
//
// Flags are Google Benchmark's and those below; --help prints them.
//   --threads N   threads for LibTorch; 1 by default, 0 for all cores
//   --pt2 FILE    an archive to time; may be repeated
//
// By default every benchmark runs 15 times in random order, so that a temporary slowdown of the
// machine affects all of them alike. malloc returns no memory to the system: with glibc's default,
// page faults make eager's time bimodal between processes.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

struct BenchmarkFlags {
  int threads = 1;
  std::vector<std::string> archives = {};
  // Our defaults, then the caller's flags: Google Benchmark takes the last of repeated flags.
  std::vector<std::string> rest;
};

// Throws Error unless --threads is a number up to 1024, and for a flag without its value.
BenchmarkFlags parse_benchmark_flags(const std::vector<std::string>& arguments);

// Registers a benchmark. If it throws, the benchmark and the program fail with the message.
void add_benchmark(const std::string& name, std::function<void(benchmark::State&)> benchmark);

// Registers a program's benchmarks. Throws Error for archives that it cannot time.
using AddBenchmarks = std::function<void(const std::vector<std::string>& archives)>;

// Implements main: registers benchmarks, runs the chosen ones, and prints their medians. Returns
// the exit status: 1 when a benchmark failed or none was chosen, 2 for bad flags.
int run_benchmarks(int argc, char** argv, const AddBenchmarks& add_benchmarks);

}  // namespace torch_ir
