// The roofline of this machine: the least time for the multiply-adds and bytes of a graph.
//
// The peak is the best that a matrix product of oneDNN reaches on LibTorch's threads. The bandwidth
// is that of copying as many bytes, so that weights which stay in a cache are measured there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/benchmark/benchmark_engines.h"

namespace torch_ir {

// "1 thread: 120.1 GFLOP/s, 2 threads: 231.3 GFLOP/s; copying 64 MB: 11.2 GB/s"; empty if torch-ir
// was built without oneDNN.
std::string peak_text();

// The larger of the time for the multiply-adds and that for reading the inputs and weights and
// writing the outputs once, in seconds; nothing if the costs of the graph are not all known.
// Winograd's algorithm, which needs fewer multiply-adds, may fall below it.
std::optional<double> least_time(const Case& graph_case, int64_t output_bytes);

}  // namespace torch_ir
