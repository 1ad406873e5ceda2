#include <fmt/format.h>

#include <functional>
#include <map>

#include "harness/report/page_text.h"
#include "torch_ir/base/text.h"

namespace torch_ir {
namespace {

constexpr size_t kMostOfPlace = 10;
constexpr const char* kUnknownPlace = "not reported";

struct PlaceFigures {
  int64_t num_nodes = 0;
  // Calls by the name of the operator without namespace and overload.
  std::map<std::string, int64_t> operators;
  std::vector<std::string> names;
  double seconds = 0;
};

std::map<std::string, PlaceFigures> places_of(const ExecutorReport& report) {
  std::map<std::string, PlaceFigures> places;
  for (const auto& [name, node] : report.nodes) {
    PlaceFigures& place = places[node.place.empty() ? kUnknownPlace : node.place];
    ++place.num_nodes;
    ++place.operators[short_operator(node.op_type)];
    place.names.push_back(code_cell(name));
    place.seconds += node.seconds.value_or(0);
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

Table places_table(std::span<const Result> results, bool has_models, bool has_times) {
  Table table("llrllrr", {"Model", "Place", "Nodes", "Operators", "Names", "Seconds", "Share"});
  for (const Result& result : results) {
    const auto places = places_of(result.executor.value_or(ExecutorReport()));
    double total = 0;
    for (const auto& [name, place] : places) total += place.seconds;
    for (const auto& [name, place] : places) {
      const std::string share = fmt::format("{:.1f} %", 100 * place.seconds / total);
      table.add({has_models ? page_link(result.name) : "", text_cell(name), place.num_nodes,
                 operators_text(place.operators), listed(place.names, kMostOfPlace),
                 has_times ? short_number(place.seconds) : "",
                 has_times && total > 0 ? share : ""});
    }
  }
  return table.without_empty_columns();
}

std::string places_section(const Result& result, bool has_times) {
  return section(
      "## Places\n\nWhere nodes ran, as the executor reports it; if trials differ, in "
      "the one with most nodes on the host.",
      {places_table({&result, 1}, false, has_times).markdown()});
}

}  // namespace torch_ir
