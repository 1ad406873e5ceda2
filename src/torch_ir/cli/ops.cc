// torch-ir ops: lists the operators of graphs, and whether this process has them.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "torch_ir/analysis/summary.h"
#include "torch_ir/analysis/text_table.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/cli/command.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/operators/operator_table.h"

namespace torch_ir {
namespace {

struct OpsArguments {
  std::vector<std::string> files;
  std::string program;
  bool json = false;
};

struct Operator {
  std::string op_type;
  int64_t calls;
  OperatorSupport support;
};

std::vector<Operator> operators_in(const OpsArguments& arguments) {
  std::map<std::string, int64_t> sums;
  for (const std::string& file : arguments.files) {
    const GraphFile graph = load_graph_file(file, arguments.program, WeightBytes::kUnread);
    for (const auto& [op_type, count] : count_operators(*graph.content.program)) {
      sums[op_type] += count;
    }
  }
  std::vector<Operator> operators;
  for (const auto& [op_type, calls] : sums) {
    operators.push_back({op_type, calls, operator_support(op_type)});
  }
  std::ranges::stable_sort(operators, std::greater(), &Operator::calls);
  return operators;
}

std::string to_json(const std::vector<Operator>& operators) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [op_type, calls, support] : operators) {
    list.push_back({{"op_type", printable(op_type)},
                    {"calls", calls},
                    {"runs", support.is_supported},
                    {"runs_as", support.description},
                    {"replayed", support.replayed}});
  }
  return nlohmann::ordered_json{{"operators", std::move(list)}}.dump(2) + '\n';
}

std::string to_text(const std::vector<Operator>& operators) {
  TextRows rows = {{"operator", "  calls", "runs as", "replayed"}};
  for (const auto& [op_type, calls, support] : operators) {
    rows.push_back({printable(op_type), std::to_string(calls), support.description,
                    support.replayed.empty() ? "-" : support.replayed});
  }
  return text_table(rows, " >");
}

std::string sum_of(const std::vector<Operator>& operators) {
  int64_t num_calls = 0;
  size_t num_unsupported = 0;
  for (const Operator& op : operators) {
    num_calls += op.calls;
    num_unsupported += op.support.is_supported ? 0 : 1;
  }
  return fmt::format("operators: {}, calls: {}, unsupported operators: {}\n", operators.size(),
                     num_calls, num_unsupported);
}

int run_ops(const OpsArguments& arguments, Console& console) {
  const std::vector<Operator> operators = operators_in(arguments);
  if (arguments.json) {
    console.out() << to_json(operators);
  } else {
    console.out() << to_text(operators);
    console.talk() << sum_of(operators);
  }
  return kDone;
}

void declare_ops(CLI::App& parser, OpsArguments& arguments) {
  parser.add_option("FILE", arguments.files, "The graphs: IR JSON, or archives (.pt2)")
      ->required()
      ->type_name("");
  add_program_option(parser, arguments.program);
  parser.add_flag("--json", arguments.json, "Print JSON");
}

}  // namespace

Command ops_command() {
  return {.name = "ops",
          .summary = "List the operators of graphs, how often they are called and how they run",
          .examples =
              "  torch-ir ops model.json\n"
              "  torch-ir ops *.pt2 --json\n",
          .declare = with_arguments(declare_ops, run_ops)};
}

}  // namespace torch_ir
