#include <fmt/format.h>

#include <functional>
#include <map>

#include "harness/report/page_text.h"

namespace torch_ir {
namespace {

constexpr size_t kMostOfPlace = 10;
constexpr const char* kUnknownPlace = "not reported";

struct PlaceFigures {
  int64_t num_nodes = 0;
  // Calls by the name of the operator without namespace and overload.
  std::map<std::string, int64_t> operators;
  std::vector<std::string> names;
};

std::map<std::string, PlaceFigures> places_of(const ExecutorReport& report) {
  std::map<std::string, PlaceFigures> places;
  for (const auto& [name, node] : report.nodes) {
    PlaceFigures& place = places[node.place.empty() ? kUnknownPlace : node.place];
    ++place.num_nodes;
    ++place.operators[short_operator(node.op_type)];
    place.names.push_back(code_cell(name));
  }
  const int64_t num_unknown = report.num_nodes - std::ssize(report.nodes);
  if (num_unknown > 0 && !places.empty()) places[kUnknownPlace].num_nodes += num_unknown;
  return places;
}

// "topk 3, cumsum 2"
std::string operators_text(const std::map<std::string, int64_t>& operators) {
  std::multimap<int64_t, std::string, std::greater<>> by_calls;
  for (const auto& [name, calls] : operators) by_calls.emplace(calls, name);
  std::vector<std::string> items;
  for (const auto& [calls, name] : by_calls) items.push_back(fmt::format("{} {}", name, calls));
  return text_cell(listed(items, kMostOfPlace));
}

}  // namespace

Table places_table(std::span<const Result> results, bool has_models) {
  Table table("llrll", {"Model", "Place", "Nodes", "Operators", "Names"});
  for (const Result& result : results) {
    for (const auto& [name, place] : places_of(result.executor.value_or(ExecutorReport()))) {
      table.add({has_models ? page_link(result.name) : "", text_cell(name), place.num_nodes,
                 operators_text(place.operators), listed(place.names, kMostOfPlace)});
    }
  }
  return table.without_empty_columns();
}

std::string places_section(const Result& result) {
  return section(
      "## Places\n\nWhere nodes ran, as the executor reports it; if trials differ, in "
      "the one with most nodes on the host.",
      {places_table({&result, 1}, false).markdown()});
}

}  // namespace torch_ir
