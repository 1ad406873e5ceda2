// torch-ir ops: which operators graphs call, and how they run here.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <ostream>
#include <utility>

#include "torch_ir/base/printable.h"
#include "torch_ir/cli/commands.h"
#include "torch_ir/cli/graph_file.h"
#include "torch_ir/executor/operator_support.h"
#include "torch_ir/visualize/summary.h"

namespace torch_ir {
namespace {

struct Arguments {
  std::vector<std::string> files;
};

using Counts = std::vector<std::pair<std::string, int64_t>>;

// Over all files: most frequent first, ties by name.
Counts count_in(const std::vector<std::string>& files, Console& console) {
  std::map<std::string, int64_t> sums;
  for (const std::string& file : files) {
    for (const auto& [op_type, count] : count_operators(load_graph_to_show(file, console))) {
      sums[op_type] += count;
    }
  }
  Counts counts(sums.begin(), sums.end());
  std::ranges::stable_sort(counts, std::greater(), &Counts::value_type::second);
  return counts;
}

int run(const Arguments& arguments, Console& console) {
  const Counts counts = count_in(arguments.files, console);
  size_t width = 8;
  int64_t num_calls = 0;
  size_t num_unsupported = 0;
  for (const auto& [op_type, count] : counts) width = std::max(width, printable(op_type).size());
  console.out() << fmt::format("{:<{}}  {:>7}  {}\n", "operator", width, "calls", "runs as");
  for (const auto& [op_type, count] : counts) {
    const OperatorSupport support = operator_support(op_type);
    console.out() << fmt::format("{:<{}}  {:>7}  {}\n", printable(op_type), width, count,
                                 support.description);
    num_calls += count;
    num_unsupported += support.is_supported ? 0 : 1;
  }
  console.talk() << fmt::format(
      "{} operators, {} calls; {}\n", counts.size(), num_calls,
      num_unsupported == 0 ? "all run" : fmt::format("{} do not run", num_unsupported));
  return kDone;
}

Command::Action declare(CLI::App& parser) {
  const auto arguments = std::make_shared<Arguments>();
  parser.add_option("FILE", arguments->files, "Graphs: IR JSON or archives (.pt2)")
      ->required()
      ->type_name("");
  return [arguments](Console& console) { return run(*arguments, console); };
}

}  // namespace

Command ops_command() {
  return {.name = "ops",
          .summary = "List the operators of graphs, how often and how they run",
          .examples = "  torch-ir ops model.json\n  torch-ir ops *.pt2\n",
          .declare = declare};
}

}  // namespace torch_ir
