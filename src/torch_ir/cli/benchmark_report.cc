#include "torch_ir/cli/benchmark_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

#include "torch_ir/analysis/cost.h"
#include "torch_ir/analysis/text_table.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"
#include "torch_ir/ir/json_fields.h"

namespace torch_ir {

TORCH_IR_FIELDS(PlanMemory, arena, returned, intermediates, lower_bound)
TORCH_IR_FIELDS(NodeNotReplayed, name, op_type, reason)
TORCH_IR_FIELDS(ExactRuns, name, op_type, num_runs)
TORCH_IR_FIELDS(NodeProfile, name, op_type, calls, seconds, bytes)
TORCH_IR_FIELDS(BenchmarkReport, model_name, optimization, device, threads, rounds,
                reached_time_limit, weights, inputs, seconds)

namespace {

std::vector<size_t> by_time(const std::vector<NodeProfile>& nodes) {
  std::vector<size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return nodes[i].seconds; });
  return order;
}

double sum_of_seconds(const BenchmarkReport& report) {
  return std::accumulate(report.nodes.begin(), report.nodes.end(), 0.0,
                         [](double sum, const NodeProfile& node) { return sum + node.seconds; });
}

// "aten::addmm" as graphs name it.
std::string call_text(const std::string& call) {
  const size_t colons = call.find("::");
  return colons == std::string::npos ? call
                                     : call.substr(0, colons) + "." + call.substr(colons + 2);
}

// "aten.addmm, aten.add x2"; "-" if the node makes no call in the run or shares a fused one.
std::string calls_text(const NodeProfile& node) {
  const std::vector<std::string>& calls = node.calls;
  std::string text;
  for (auto call = calls.begin(); call != calls.end();) {
    const auto next = std::find_if(call, calls.end(), [&](const auto& it) { return it != *call; });
    if (!text.empty()) text += ", ";
    text += printable(call_text(*call));
    if (next - call > 1) text += fmt::format(" x{}", next - call);
    call = next;
  }
  return text.empty() ? "-" : text;
}

// Three digits, in the largest unit that leaves a nonzero integer part.
std::string time_text(double seconds) {
  constexpr std::array<std::string_view, 4> kUnits = {"ns", "us", "ms", "s"};
  if (seconds == 0) return "0 ns";
  double value = seconds * 1e9;
  size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return fmt::format("{:.{}f} {}", value,
                     value >= 99.95   ? 0
                     : value >= 9.995 ? 1
                                      : 2,
                     kUnits.at(unit));
}

std::string rate_text(const NodeProfile& node) {
  if (node.seconds <= 0 || node.bytes <= 0) return "-";
  return fmt::format("{:.1f}", static_cast<double>(node.bytes) / node.seconds / 1e9);
}

std::string node_lines(const BenchmarkReport& report) {
  constexpr size_t kBarWidth = 16;
  const double sum = sum_of_seconds(report);
  const std::vector<size_t> order = by_time(report.nodes);
  const double longest = order.empty() ? 0 : report.nodes[order.front()].seconds;
  TextRows rows = {{"    time", "  share", std::string(kBarWidth, ' '), "   bytes", "   GB/s",
                    "node", "operator", "calls"}};
  const bool has_modules = !report.modules.empty();
  if (has_modules) rows[0].insert(rows[0].end() - 1, "module");
  for (const size_t i : order) {
    const NodeProfile& node = report.nodes[i];
    const double length = longest > 0 ? node.seconds / longest * kBarWidth : 0;
    rows.push_back({time_text(node.seconds),
                    fmt::format("{:.1f} %", sum > 0 ? 100 * node.seconds / sum : 0),
                    std::string(static_cast<size_t>(std::lround(length)), '#'),
                    node.bytes > 0 ? bytes_text(node.bytes) : "-", rate_text(node),
                    printable(node.name), printable(node.op_type), calls_text(node)});
    if (has_modules) rows.back().insert(rows.back().end() - 1, printable(report.modules.at(i)));
  }
  return text_table(rows, ">> >>");
}

// Nodes inside control flow do not count.
size_t num_replayed(const BenchmarkReport& report) {
  return static_cast<size_t>(std::ranges::count_if(report.nodes, [&](const NodeProfile& node) {
    return std::ranges::find(report.not_replayed, node.name, &NodeNotReplayed::name) ==
           report.not_replayed.end();
  }));
}

std::string replay_lines(const BenchmarkReport& report) {
  constexpr size_t kMostLines = 20;
  std::string text = fmt::format("replayed: {} of {}\n", num_replayed(report),
                                 counted(std::ssize(report.nodes), "node"));
  const size_t num_lines = std::min(kMostLines, report.not_replayed.size());
  for (size_t i = 0; i < num_lines; ++i) {
    const NodeNotReplayed& node = report.not_replayed[i];
    text += fmt::format("  not replayed: {} ({}): {}\n", printable(node.name),
                        printable(node.op_type), node.reason);
  }
  if (num_lines < report.not_replayed.size()) {
    text +=
        fmt::format("  and {} more (--json lists all)\n", report.not_replayed.size() - num_lines);
  }
  for (const ExactRuns& node : report.exact_runs) {
    text += fmt::format(
        "started again as exact: {} at {} ({}), which met NaN, infinities or "
        "numbers above 2^50\n",
        counted(node.num_runs, "run"), printable(node.name), printable(node.op_type));
  }
  return text;
}

std::string memory_line(const std::optional<PlanMemory>& memory) {
  if (!memory) {
    return "memory: not planned; each run allocates it from LibTorch\n";
  }
  return fmt::format(
      "memory: arena {} (lower bound {}), allocated by operators {}, all intermediate values {}\n",
      bytes_text(memory->arena), bytes_text(memory->lower_bound), bytes_text(memory->returned),
      bytes_text(memory->intermediates));
}

}  // namespace

std::string to_text(const BenchmarkReport& report) {
  int64_t num_calls = 0;
  for (const NodeProfile& node : report.nodes) num_calls += std::ssize(node.calls);
  return fmt::format(
             "{}: optimization {}, device {}, {}; medians of {}{}; weights: {}, inputs: {}\n",
             printable(report.model_name), report.optimization, report.device,
             counted(report.threads, "thread"), counted(report.rounds, "round"),
             report.reached_time_limit ? ", ended by the time limit" : "", report.weights,
             report.inputs) +
         '\n' + node_lines(report) + '\n' +
         fmt::format("{}, {}: {} one by one; a whole run: {}\n",
                     counted(std::ssize(report.nodes), "node"), counted(num_calls, "call"),
                     time_text(sum_of_seconds(report)), time_text(report.seconds)) +
         replay_lines(report) + memory_line(report.memory);
}

std::string to_json(const BenchmarkReport& report) {
  using json_fields::Json;
  Json json = json_fields::write(report);
  json["node_seconds"] = sum_of_seconds(report);
  json["memory"] = report.memory ? json_fields::write(*report.memory) : Json();
  json["not_replayed"] = json_fields::write(report.not_replayed);
  json["exact_runs"] = json_fields::write(report.exact_runs);
  json["nodes"] = Json::array();
  for (const size_t i : by_time(report.nodes)) {
    NodeProfile node = report.nodes[i];
    for (std::string& call : node.calls) call = call_text(call);
    Json line = {{"index", i}};
    line.update(json_fields::write(node));
    if (!report.modules.empty()) line["module"] = report.modules.at(i);
    json["nodes"].push_back(std::move(line));
  }
  return json.dump(2) + "\n";
}

}  // namespace torch_ir
