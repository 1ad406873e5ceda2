#include "torch_ir/analysis/support_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/version.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <tuple>

#include "torch_ir/analysis/summary.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

using Operators = std::vector<std::string>;

GraphSupport support_of(const GraphOperators& graph, const SupportedOperators& list) {
  GraphSupport support{.name = graph.name, .missing = {}, .error = graph.error};
  for (const auto& [op_type, calls] : graph.operators) {
    support.num_calls += calls;
    if (list.contains(op_type)) {
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
      sum.num_calls += calls;
    }
  }
  std::vector<MissingOperator> missing;
  for (auto& [op_type, sum] : sums) missing.push_back(std::move(sum));
  std::ranges::stable_sort(missing, [](const MissingOperator& a, const MissingOperator& b) {
    return std::tie(a.num_graphs, a.num_calls) > std::tie(b.num_graphs, b.num_calls);
  });
  return missing;
}

// What graphs still lack, sorted, with the places of those that lack just that.
using Lacking = std::map<Operators, std::vector<size_t>>;

Lacking lacking_graphs(const std::vector<GraphSupport>& graphs) {
  Lacking lacking;
  for (size_t i = 0; i < graphs.size(); ++i) {
    if (graphs[i].missing.empty()) continue;
    Operators operators;
    for (const auto& [op_type, calls] : graphs[i].missing) operators.push_back(op_type);
    std::ranges::sort(operators);
    lacking[operators].push_back(i);
  }
  return lacking;
}

std::vector<size_t> unlocked_by(const Operators& operators, const Lacking& lacking) {
  std::vector<size_t> unlocked;
  for (const auto& [others, graphs] : lacking) {
    if (!std::ranges::includes(operators, others)) continue;
    unlocked.insert(unlocked.end(), graphs.begin(), graphs.end());
  }
  std::ranges::sort(unlocked);
  return unlocked;
}

struct Choice {
  Operators operators;
  std::vector<size_t> graphs;

  // More graphs for each operator, then fewer operators.
  bool is_better_than(const Choice& other) const {
    const size_t gain = graphs.size() * other.operators.size();
    const size_t other_gain = other.graphs.size() * operators.size();
    return std::tuple(gain, other.operators.size()) > std::tuple(other_gain, operators.size());
  }
};

Choice best_choice(const Lacking& lacking) {
  Choice best;
  for (const auto& [operators, graphs] : lacking) {
    Choice choice{operators, unlocked_by(operators, lacking)};
    if (best.operators.empty() || choice.is_better_than(best)) best = std::move(choice);
  }
  return best;
}

// What is lacking when `operators` are there.
Lacking without(const Lacking& lacking, const Operators& operators) {
  Lacking rest;
  for (const auto& [lacked, graphs] : lacking) {
    Operators left;
    std::ranges::set_difference(lacked, operators, std::back_inserter(left));
    if (left.empty()) continue;
    std::vector<size_t>& places = rest[left];
    places.insert(places.end(), graphs.begin(), graphs.end());
  }
  return rest;
}

std::vector<UnlockStep> find_steps(const std::vector<GraphSupport>& graphs, int64_t num_running) {
  std::vector<UnlockStep> steps;
  Lacking lacking = lacking_graphs(graphs);
  while (!lacking.empty() && steps.size() < kMaxUnlockSteps) {
    Choice choice = best_choice(lacking);
    num_running += static_cast<int64_t>(choice.graphs.size());
    UnlockStep& step =
        steps.emplace_back(UnlockStep{.operators = {}, .graphs = {}, .num_running = num_running});
    for (const size_t graph : choice.graphs) step.graphs.push_back(graphs[graph].name);
    lacking = without(lacking, choice.operators);
    step.operators = std::move(choice.operators);
  }
  return steps;
}

// --- As text and JSON ---

using Json = nlohmann::ordered_json;
using Row = std::vector<std::string>;

constexpr size_t kMaxListed = 5;
constexpr const char* kGap = "  ";

// "a, b, c, d, e and 7 more"
std::string list_text(const Row& items) {
  const auto end = items.begin() + static_cast<int64_t>(std::min(items.size(), kMaxListed));
  std::string text = fmt::format("{}", fmt::join(items.begin(), end, ", "));
  if (items.size() > kMaxListed) text += fmt::format(" and {} more", items.size() - kMaxListed);
  return text;
}

Row printable_all(const Row& names) {
  Row result;
  for (const std::string& name : names) result.push_back(printable(name));
  return result;
}

// Columns as wide as their widest cell, but for the last; the first row is the title.
std::string table(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    for (size_t i = 0; i + 1 < row.size(); ++i) {
      text += fmt::format("{:<{}}{}", row[i], widths[i], kGap);
    }
    text += row.back() + '\n';
  }
  return text;
}

std::string missing_text(const GraphSupport& graph) {
  if (!graph.error.empty()) return "no graph: " + printable(graph.error);
  if (graph.missing.empty()) return "nothing";
  Row items;
  for (const auto& [op_type, calls] : graph.missing) {
    items.push_back(calls == 1 ? printable(op_type)
                               : fmt::format("{} ({} calls)", printable(op_type), calls));
  }
  return list_text(items);
}

std::string graphs_table(const SupportReport& report) {
  std::vector<Row> rows = {{"model", "runs", "calls supported", "missing"}};
  for (const GraphSupport& graph : report.graphs) {
    rows.push_back({printable(graph.name), graph.runs() ? "yes" : "no",
                    fmt::format("{} of {}", graph.num_supported_calls, graph.num_calls),
                    missing_text(graph)});
  }
  return table(rows);
}

std::string missing_table(const SupportReport& report) {
  std::vector<Row> rows = {{"missing operator", "models", "calls"}};
  for (const MissingOperator& missing : report.missing) {
    rows.push_back({printable(missing.op_type), std::to_string(missing.num_graphs),
                    std::to_string(missing.num_calls)});
  }
  return table(rows);
}

std::string steps_table(const SupportReport& report) {
  std::vector<Row> rows = {{"add", "models that run", "new ones"}};
  for (const UnlockStep& step : report.steps) {
    rows.push_back({fmt::format("{}", fmt::join(printable_all(step.operators), " + ")),
                    fmt::format("{} (+{})", step.num_running, step.graphs.size()),
                    list_text(printable_all(step.graphs))});
  }
  return table(rows);
}

// What may be mistyped.
std::string unknown_lines(const SupportReport& report, const std::string& list_name) {
  if (report.unknown.empty()) return {};
  std::string text = "\n";
  for (const auto& [name, line] :
       std::span(report.unknown).first(std::min(report.unknown.size(), kMaxListed))) {
    text += fmt::format("{}:{}: LibTorch {} has no {}{}\n", printable(list_name), line,
                        TORCH_VERSION, printable(name), suggest_operator(name));
  }
  if (report.unknown.size() > kMaxListed) {
    text += fmt::format("and {} more that it does not have\n", report.unknown.size() - kMaxListed);
  }
  return text;
}

Json to_object(const std::vector<std::pair<std::string, int64_t>>& counts) {
  Json object = Json::object();
  for (const auto& [name, count] : counts) object[printable(name)] = count;
  return object;
}

}  // namespace

GraphOperators operators_of(std::string name, const Graph& graph) {
  return {.name = std::move(name), .operators = count_operators(graph)};
}

SupportReport supported(const std::vector<GraphOperators>& graphs, const SupportedOperators& list) {
  SupportReport report;
  for (const GraphOperators& graph : graphs) report.graphs.push_back(support_of(graph, list));
  report.num_running = std::ranges::count_if(report.graphs, &GraphSupport::runs);
  report.missing = count_missing(report.graphs);
  report.unknown = list.unknown();
  report.steps = find_steps(report.graphs, report.num_running);
  return report;
}

std::string to_text(const SupportReport& report, const std::string& list_name) {
  std::string text = graphs_table(report);
  text += fmt::format("\n{} of {} models run on the operators of {}.\n", report.num_running,
                      report.graphs.size(), printable(list_name));
  text += unknown_lines(report, list_name);
  if (report.missing.empty()) return text;
  text += '\n' + missing_table(report);
  text +=
      "\nWhat to add next, one line after the other: each time the operators that make the most\n"
      "models run for each operator added, taken from what one model lacks.\n\n";
  return text + steps_table(report);
}

std::string to_json(const SupportReport& report) {
  Json json = {{"num_models", report.graphs.size()},
               {"num_running", report.num_running},
               {"models", Json::array()},
               {"missing_operators", Json::array()},
               {"unknown_operators", Json::array()},
               {"steps", Json::array()}};
  for (const GraphSupport& graph : report.graphs) {
    Json& item = json["models"].emplace_back();
    item = {{"name", printable(graph.name)},
            {"runs", graph.runs()},
            {"calls", graph.num_calls},
            {"supported_calls", graph.num_supported_calls},
            {"missing", to_object(graph.missing)}};
    if (!graph.error.empty()) item["error"] = printable(graph.error);
  }
  for (const MissingOperator& missing : report.missing) {
    json["missing_operators"].push_back({{"op_type", printable(missing.op_type)},
                                         {"models", missing.num_graphs},
                                         {"calls", missing.num_calls}});
  }
  for (const auto& [name, line] : report.unknown) {
    json["unknown_operators"].push_back({{"name", printable(name)}, {"line", line}});
  }
  for (const UnlockStep& step : report.steps) {
    json["steps"].push_back({{"operators", printable_all(step.operators)},
                             {"models", printable_all(step.graphs)},
                             {"num_running", step.num_running}});
  }
  return json.dump(2) + '\n';
}

}  // namespace torch_ir
