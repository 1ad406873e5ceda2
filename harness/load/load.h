// Loads: what torch-ir has to bear, with what it takes.
//
// A load does one thing very often, or one very large thing, checks each result, and gives its
// figures as text. The program `load` (main.cc) runs them: all of them in full, or as far as
// seconds take it, which is a test. Memory is held to a bound, time is not.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

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

// A plan of `ir` at that level.
ExecutionPlan plan_at(Optimization level, const IR& ir, const StateDict& weights = StateDict());

// Throws Error with `message` unless `is_so`.
void require(bool is_so, const std::string& message);

}  // namespace torch_ir
