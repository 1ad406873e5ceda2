// Loads: what torch-ir has to bear, with what it takes.
//
// A load does one thing very often, or one very large thing, checks each result, and gives its
// figures as text. The program `load` (load.cc) runs them: all of them in full, or as far as
// seconds take it, which is a test. Memory is held to a bound, time is not.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/benchmark/allocation_counter.h"
#include "torch_ir/executor/execution_plan.h"

namespace torch_ir {

struct Load {
  // "threads/MaskedLinear".
  std::string name;
  // How often, or how large, in the test and in full.
  int64_t small_count;
  int64_t full_count;
  // Gives the figures. Throws Error when a result is wrong, or memory is not what it should be.
  std::function<std::string(int64_t count)> run;
};

// One plan run by many threads, many plans.
std::vector<Load> plan_loads();
// Graphs of many nodes, deep ones, and with many outputs, through all that takes a graph.
std::vector<Load> graph_loads();
// Weights that are much larger than the memory, and very many models in one run of the harness.
std::vector<Load> file_loads();

// --- What loads have in common ---

// A plan of `ir` at that level.
ExecutionPlan plan_at(Optimization level, const IR& ir, const StateDict& weights = StateDict());

// Throws Error with `message` unless `is_so`.
void require(bool is_so, const std::string& message);

// What a piece of a load takes: time, memory from malloc and from the system.
struct Footprint {
  double seconds = 0;
  // Nothing where nobody can count them, as under a sanitizer, which also keeps what is freed: no
  // bound on memory is checked then, and the figures say so.
  std::optional<Allocations> allocations = std::nullopt;
  // What the process had in memory before and after, in bytes.
  int64_t resident_before = 0;
  int64_t resident_after = 0;

  int64_t resident_growth() const { return resident_after - resident_before; }
  // The most that it took, as far as that is known.
  int64_t peak_bytes() const { return allocations ? allocations->peak_bytes : resident_growth(); }
};

Footprint measure(const std::function<void()>& action);

// "12.3 s, heap 2 MiB at most, 16 B left, resident 210 MiB -> 211 MiB".
std::string footprint_text(const Footprint& footprint);

// Throws Error when more than `bytes` are left behind on the heap, or much more than that in
// memory, where they are counted.
void require_flat(const Footprint& footprint, int64_t bytes);

// The files, pipes and sockets that this process has open.
int64_t count_descriptors();

// "1.5 MiB", "12 B".
std::string size_text(double bytes);

}  // namespace torch_ir
