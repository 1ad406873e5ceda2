// Runs the loads that are named, or all of them.
//
//   load [--small] [NAME]...
//
// --small is what the test runs. NAME may be the beginning of several: "threads/". One line each,
// on stdout: its name, its count, and its figures, or what went wrong; then the exit status is 1,
// and 2 where a name is the beginning of none.

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "harness/load/load.h"
#include "harness/run/runner.h"
#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

std::vector<Load> all_loads() {
  std::vector<Load> loads;
  for (const auto& family : {plan_loads, graph_loads, file_loads}) {
    std::ranges::move(family(), std::back_inserter(loads));
  }
  return loads;
}

bool run(const Load& load, int64_t count) {
  std::cout << fmt::format("{:<36} {:>9}  ", load.name, count) << std::flush;
  try {
    std::cout << load.run(count) << std::endl;
    return true;
  } catch (const std::exception& error) {
    std::cout << "FAILED: " << error.what() << std::endl;
    return false;
  }
}

int load_main(std::vector<std::string> names) {
  const bool is_small = std::erase(names, "--small") > 0;
  if (names.empty()) names.push_back("");
  const std::vector<Load> loads = all_loads();
  bool is_good = true;
  for (const std::string& name : names) {
    bool is_known = false;
    for (const Load& load : loads) {
      if (!load.name.starts_with(name)) continue;
      is_known = true;
      is_good = run(load, is_small ? load.small_count : load.full_count) && is_good;
    }
    if (!is_known) {
      std::cerr << "there is no load '" << name << "'\n";
      return 2;
    }
  }
  return is_good ? 0 : 1;
}

}  // namespace

ExecutionPlan plan_at(Optimization level, const IR& ir, const StateDict& weights) {
  ExecutionOptions options;
  options.optimization = level;
  return compile(ir, weights, StateDict(), options);
}

void require(bool is_so, const std::string& message) {
  if (!is_so) throw Error(message);
}

}  // namespace torch_ir

int main(int argc, char** argv) {
  if (const auto status = torch_ir::run_as_child(argc, argv)) return *status;
  return torch_ir::load_main({argv + 1, argv + argc});
}
