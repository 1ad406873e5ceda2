// torch-ir ops: lists the operators of graphs, and whether this process or a backend has them.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "torch_ir/analysis/summary.h"
#include "torch_ir/analysis/support_report.h"
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
  // A list of operators; empty to ask about this process.
  std::string supported;
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

void list_operators(const OpsArguments& arguments, Console& console) {
  const std::vector<Operator> operators = operators_in(arguments);
  if (arguments.json) {
    console.out() << to_json(operators);
  } else {
    console.out() << to_text(operators);
    console.talk() << sum_of(operators);
  }
}

void list_supported(const OpsArguments& arguments, Console& console) {
  const SupportedOperators list = SupportedOperators::load(arguments.supported);
  std::vector<GraphOperators> graphs;
  for (const std::string& file : arguments.files) {
    const GraphFile graph = load_graph_file(file, arguments.program, WeightBytes::kUnread);
    graphs.push_back(operators_of(file, *graph.content.program));
  }
  const SupportReport report = supported(graphs, list);
  console.out() << (arguments.json ? to_json(report) : to_text(report, arguments.supported));
}

int run_ops(const OpsArguments& arguments, Console& console) {
  if (arguments.supported.empty()) {
    list_operators(arguments, console);
  } else {
    list_supported(arguments, console);
  }
  return kDone;
}

void declare_ops(CLI::App& parser, OpsArguments& arguments) {
  parser.add_option("FILE", arguments.files, "The graphs: IR JSON, or archives (.pt2)")
      ->required()
      ->type_name("");
  add_program_option(parser, arguments.program);
  parser
      .add_option("--supported", arguments.supported,
                  "Report which graphs these operators can run, and what unlocks most")
      ->type_name("FILE")
      ->check([](const std::string& path) {
        return path.empty() ? std::string("missing file name") : std::string();
      });
  parser.add_flag("--json", arguments.json, "Print JSON");
}

}  // namespace

Command ops_command() {
  return {.name = "ops",
          .summary = "List the operators of graphs, how often they are called and how they run",
          .examples =
              "  torch-ir ops model.json\n"
              "  torch-ir ops *.pt2 --json\n"
              "  torch-ir ops *.json --supported my_chip.txt\n",
          .declare = with_arguments(declare_ops, run_ops)};
}

}  // namespace torch_ir
