#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "harness/report/page_text.h"
#include "harness/report/sections.h"
#include "torch_ir/base/text.h"

namespace torch_ir {
namespace {

constexpr size_t kMostOfPlace = 10;

struct PlaceFigures {
  int64_t num_nodes = 0;
  // Calls by the name of the operator without namespace and overload.
  std::map<std::string, int64_t> operators;
  std::vector<std::string> names;
  std::optional<double> seconds;
};

// "topk" for "aten.topk.default".
std::string short_name(const std::string& op_type) {
  const size_t begin = op_type.find('.') + 1;
  const size_t end = op_type.rfind('.');
  return op_type.substr(begin, end < begin ? std::string::npos : end - begin);
}

std::map<std::string, PlaceFigures> places_of(const ExecutorReport& report) {
  constexpr const char* kUnknown = "not reported";
  std::map<std::string, PlaceFigures> places;
  for (const auto& [name, node] : report.nodes) {
    PlaceFigures& place = places[node.place.empty() ? kUnknown : node.place];
    ++place.num_nodes;
    if (!node.op_type.empty()) ++place.operators[short_name(node.op_type)];
    place.names.push_back(code_cell(name));
    if (node.seconds) place.seconds = place.seconds.value_or(0) + *node.seconds;
  }
  const int64_t num_unknown = report.num_nodes - std::ssize(report.nodes);
  if (num_unknown > 0) places[kUnknown].num_nodes += num_unknown;
  return places;
}

// "topk 3, cumsum 2"
std::string operators_text(const std::map<std::string, int64_t>& operators) {
  std::vector<std::pair<std::string, int64_t>> sorted(operators.begin(), operators.end());
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<std::string, int64_t>::second);
  std::vector<std::string> items;
  for (const auto& [name, calls] : sorted) items.push_back(fmt::format("{} {}", name, calls));
  return text_cell(listed(items, kMostOfPlace));
}

template <class Predicate>
bool has_node(const Result& result, const Predicate& is_wanted) {
  return result.executor && std::ranges::any_of(result.executor->nodes, [&](const auto& entry) {
           return is_wanted(entry.second);
         });
}

bool has_seconds(const Result& result) {
  return has_node(result, [](const ExecutorNode& node) { return node.seconds.has_value(); });
}

bool has_places(const Result& result) {
  return has_node(result, [](const ExecutorNode& node) { return !node.place.empty(); });
}

Table table_with(const char* alignment, std::vector<Cell> heads, bool has_times) {
  if (has_times) heads.push_back("Seconds");
  if (has_times) heads.push_back("Share of the seconds");
  return Table(alignment + std::string(has_times ? "rr" : ""), std::move(heads));
}

// A row for each place: `before`, place, number of nodes, operators, the names of nodes unless the
// row is `before` a model's name, and the seconds if there is a column for them.
void add_places(const ExecutorReport& report, const std::vector<Cell>& before, bool has_times,
                Table& table) {
  const std::map<std::string, PlaceFigures> places = places_of(report);
  double total = 0;
  for (const auto& [name, place] : places) total += place.seconds.value_or(0);
  for (const auto& [name, place] : places) {
    std::vector<Cell> cells = before;
    cells.insert(cells.end(), {text_cell(name), place.num_nodes, operators_text(place.operators)});
    if (before.empty()) cells.push_back(listed(place.names, kMostOfPlace));
    if (has_times && place.seconds) {
      cells.push_back(short_number(*place.seconds));
      cells.push_back(total > 0 ? fmt::format("{:.1f} %", 100 * *place.seconds / total) : "");
    }
    table.add(std::move(cells));
  }
}

}  // namespace

SectionData places_section(const ModelPage& page) {
  if (!has_places(page.result)) return std::nullopt;
  const bool has_times = page.context.timings && has_seconds(page.result);
  Table table = table_with("lrll", {"Place", "Nodes", "Operators", "Names"}, has_times);
  add_places(*page.result.executor, {}, has_times, table);
  return table.markdown();
}

Table places_table(const std::vector<Result>& results, const RunContext& context) {
  const bool has_times = context.timings && std::ranges::any_of(results, has_seconds);
  Table table = table_with("llrl", {"Model", "Place", "Nodes", "Operators"}, has_times);
  for (const Result& result : results) {
    if (!has_places(result)) continue;
    add_places(*result.executor, {page_link(result.name)}, has_times, table);
  }
  return table;
}

}  // namespace torch_ir
