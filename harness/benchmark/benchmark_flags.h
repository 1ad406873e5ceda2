// The flags of the benchmark programs: ours, and what is left for Google Benchmark.
#pragma once

#include <string>
#include <vector>

namespace torch_ir {

struct BenchmarkFlags {
  // Of LibTorch; 0 for one a core.
  int threads = 1;
  // The program's name, our defaults, and the caller's flags. Google Benchmark takes the last of
  // several values of a flag, so the caller's win.
  std::vector<std::string> rest;
};

// `arguments` are those of main. Throws Error for a --threads without a count.
BenchmarkFlags parse_benchmark_flags(const std::vector<std::string>& arguments);

}  // namespace torch_ir
