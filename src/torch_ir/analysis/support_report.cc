#include "torch_ir/analysis/support_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/version.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <tuple>

#include "torch_ir/analysis/summary.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

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
      if (graph.missing.size() == 1) ++sum.num_unlocked;
      sum.num_calls += calls;
    }
  }
  std::vector<MissingOperator> missing;
  for (auto& [op_type, sum] : sums) missing.push_back(std::move(sum));
  std::ranges::stable_sort(missing, [](const MissingOperator& a, const MissingOperator& b) {
    return std::tie(a.num_graphs, a.num_unlocked, a.num_calls) >
           std::tie(b.num_graphs, b.num_unlocked, b.num_calls);
  });
  return missing;
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
  std::vector<Row> rows = {{"missing operator", "models", "unlocks", "calls"}};
  for (const MissingOperator& missing : report.missing) {
    rows.push_back({printable(missing.op_type), std::to_string(missing.num_graphs),
                    std::to_string(missing.num_unlocked), std::to_string(missing.num_calls)});
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
  return report;
}

std::string to_text(const SupportReport& report, const std::string& list_name) {
  std::string text = graphs_table(report);
  text += fmt::format("\n{} of {} models run on the operators of {}.\n", report.num_running,
                      report.graphs.size(), printable(list_name));
  text += unknown_lines(report, list_name);
  if (report.missing.empty()) return text;
  text += '\n' + missing_table(report);
  return text + "\nunlocks: models that lack nothing else\n";
}

std::string to_json(const SupportReport& report) {
  Json json = {{"num_models", report.graphs.size()},
               {"num_running", report.num_running},
               {"models", Json::array()},
               {"missing_operators", Json::array()},
               {"unknown_operators", Json::array()}};
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
                                         {"unlocks", missing.num_unlocked},
                                         {"calls", missing.num_calls}});
  }
  for (const auto& [name, line] : report.unknown) {
    json["unknown_operators"].push_back({{"name", printable(name)}, {"line", line}});
  }
  return json.dump(2) + '\n';
}

}  // namespace torch_ir
