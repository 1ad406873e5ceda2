#include "torch_ir/analysis/support_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "torch_ir/analysis/summary.h"
#include "torch_ir/analysis/text_table.h"
#include "torch_ir/base/characters.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"
#include "torch_ir/operators/operator_facts.h"

namespace torch_ir {
namespace {

// The Python package's name for taking one of several outputs; it has no dots.
constexpr std::string_view kGetItem = "<built-in function getitem>";
constexpr std::string_view kAll = ".*";
constexpr std::string_view kTorchOps = "torch.ops.";

bool is_identifier(std::string_view text) {
  return !text.empty() && is_name_start(text.front()) && std::ranges::all_of(text, is_name_part);
}

// The number of identifiers in the dotted name `text`; 0 if it is not one.
size_t count_parts(std::string_view text) {
  for (size_t count = 1;; ++count) {
    const size_t dot = text.find('.');
    if (!is_identifier(text.substr(0, dot))) return 0;
    if (dot == std::string_view::npos) return count;
    text.remove_prefix(dot + 1);
  }
}

// "aten.add.Tensor" for "torch.ops.aten.add.Tensor" and for "aten::add.Tensor".
std::string name_of(std::string_view text) {
  if (text.starts_with(kTorchOps)) text.remove_prefix(kTorchOps.size());
  std::string name(text);
  const size_t colons = name.find("::");
  if (colons != std::string::npos) name.replace(colons, 2, ".");
  return name;
}

GraphSupport support_of(const GraphOperators& graph, const SupportedOperators& list) {
  GraphSupport support{.name = graph.name, .missing = {}, .error = graph.error};
  for (const auto& [op_type, calls] : graph.operators) {
    support.num_calls += calls;
    if (list.contains(op_type) || facts_of(op_type).runs_on_host) {
      support.num_supported_calls += calls;
    } else {
      support.missing.emplace_back(op_type, calls);
    }
  }
  return support;
}

std::vector<MissingOperator> count_missing(const std::vector<GraphSupport>& graphs) {
  std::map<std::string, MissingOperator> sums;
  for (const GraphSupport& graph : graphs) {
    for (const auto& [op_type, calls] : graph.missing) {
      MissingOperator& sum = sums[op_type];
      sum.op_type = op_type;
      ++sum.num_graphs;
      if (graph.missing.size() == 1) ++sum.num_unlocked;
      sum.num_calls += calls;
    }
  }
  std::vector<MissingOperator> missing;
  for (auto& [op_type, sum] : sums) missing.push_back(std::move(sum));
  std::ranges::stable_sort(missing, std::ranges::greater(), [](const MissingOperator& one) {
    return std::tuple(one.num_graphs, one.num_unlocked, one.num_calls);
  });
  return missing;
}

// Sets of operators that graphs lack, with the number of these graphs.
using Lacks = std::map<std::set<std::string>, int64_t>;

UnlockStep best_step(const Lacks& lacks) {
  UnlockStep best;
  for (const auto& [added, num_equal] : lacks) {
    int64_t unlocked = 0;
    for (const auto& [missing, num_graphs] : lacks) {
      if (std::ranges::includes(added, missing)) unlocked += num_graphs;
    }
    const auto gain = unlocked * std::ssize(best.operators) - best.num_unlocked * std::ssize(added);
    if (best.operators.empty() || gain > 0 || (gain == 0 && added.size() < best.operators.size())) {
      best = {.operators = {added.begin(), added.end()}, .num_unlocked = unlocked};
    }
  }
  return best;
}

std::vector<UnlockStep> unlock_steps(const SupportReport& report) {
  constexpr size_t kMaxSteps = 20;
  Lacks lacks;
  for (const GraphSupport& graph : report.graphs) {
    std::set<std::string> missing;
    for (const auto& [op_type, calls] : graph.missing) missing.insert(op_type);
    ++lacks[missing];
  }
  std::vector<UnlockStep> steps;
  for (int64_t num_running = report.num_running; steps.size() < kMaxSteps;) {
    Lacks rest;
    for (const auto& [lacked, num_graphs] : lacks) {
      std::set<std::string> missing = lacked;
      if (!steps.empty()) {
        for (const std::string& op_type : steps.back().operators) missing.erase(op_type);
      }
      if (!missing.empty()) rest[missing] += num_graphs;
    }
    if (rest.empty()) break;
    lacks = std::move(rest);
    steps.push_back(best_step(lacks));
    steps.back().num_running = num_running += steps.back().num_unlocked;
  }
  return steps;
}

constexpr size_t kMaxListed = 5;

std::string missing_text(const GraphSupport& graph) {
  if (!graph.error.empty()) return "no graph: " + printable(graph.error);
  if (graph.missing.empty()) return "nothing";
  std::vector<std::string> items;
  for (const auto& [op_type, calls] : graph.missing) {
    items.push_back(calls == 1 ? printable(op_type)
                               : fmt::format("{} ({} calls)", printable(op_type), calls));
  }
  return listed(items, kMaxListed);
}

std::string graphs_table(const SupportReport& report) {
  TextRows rows = {{"model", "runs", "calls supported", "missing"}};
  for (const GraphSupport& graph : report.graphs) {
    rows.push_back({printable(graph.name), graph.runs() ? "yes" : "no",
                    fmt::format("{} of {}", graph.num_supported_calls, graph.num_calls),
                    missing_text(graph)});
  }
  return text_table(rows);
}

std::string missing_table(const SupportReport& report) {
  TextRows rows = {{"missing operator", "blocks", "unlocks", "calls"}};
  for (const MissingOperator& missing : report.missing) {
    rows.push_back({printable(missing.op_type), std::to_string(missing.num_graphs),
                    std::to_string(missing.num_unlocked), std::to_string(missing.num_calls)});
  }
  return text_table(rows);
}

std::string steps_table(const SupportReport& report) {
  TextRows rows = {{"unlocks", "models that run", "added operators"}};
  for (const UnlockStep& step : report.steps) {
    rows.push_back({std::to_string(step.num_unlocked),
                    fmt::format("{} of {}", step.num_running, report.graphs.size()),
                    printable(fmt::format("{}", fmt::join(step.operators, ", ")), SIZE_MAX)});
  }
  return text_table(rows);
}

}  // namespace

SupportedOperators SupportedOperators::parse(std::string_view text, const std::string& path) {
  SupportedOperators list;
  for (size_t line_number = 1; !text.empty(); ++line_number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::string written = name_of(line);
    const bool has_star = written.ends_with(kAll);
    const std::string name = written.substr(0, written.size() - (has_star ? kAll.size() : 0));
    const size_t num_parts = count_parts(name);
    if (num_parts < (has_star ? 1 : 2) && line != kGetItem) {
      throw Error(
          fmt::format("{}:{}: invalid operator name '{}'; write NAMESPACE.NAME.OVERLOAD, such as "
                      "aten.add.Tensor, or NAMESPACE.NAME for all overloads",
                      printable(path), line_number, printable(line)));
    }
    if (has_star || num_parts == 2) list.families_.insert(name);
    if (!has_star) list.operators_.insert(name);
  }
  return list;
}

SupportedOperators SupportedOperators::load(const std::string& path) {
  return parse(read_file(path), path);
}

bool SupportedOperators::contains(const std::string& op_type) const {
  if (operators_.contains(op_type)) return true;
  for (size_t dot = op_type.find('.'); dot != std::string::npos; dot = op_type.find('.', dot + 1)) {
    if (families_.contains(op_type.substr(0, dot))) return true;
  }
  return false;
}

GraphOperators operators_of(std::string name, const Graph& graph) {
  return {.name = std::move(name), .operators = count_operators(graph)};
}

SupportReport supported(const std::vector<GraphOperators>& graphs, const SupportedOperators& list) {
  SupportReport report;
  for (const GraphOperators& graph : graphs) report.graphs.push_back(support_of(graph, list));
  report.num_running = std::ranges::count_if(report.graphs, &GraphSupport::runs);
  report.missing = count_missing(report.graphs);
  report.steps = unlock_steps(report);
  return report;
}

std::string to_text(const SupportReport& report, const std::string& list_name) {
  std::string text = graphs_table(report);
  text += fmt::format("\n{} of {} models run on the operators of {}.\n", report.num_running,
                      report.graphs.size(), printable(list_name));
  if (report.missing.empty()) return text;
  text += '\n' + missing_table(report);
  text += "\nblocks: models that call this operator; unlocks: models that lack only this one\n";
  return text + "\nWhat unlocks most, each row after those above it:\n\n" + steps_table(report);
}

}  // namespace torch_ir
