#include "harness/report/failure_causes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <regex>
#include <utility>

#include "harness/report/markup.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"

namespace torch_ir {
namespace {

using Names = std::set<std::string>;
using NamesByPair = std::map<std::pair<std::string, std::string>, Names>;

// "denormal"; empty for ordinary values.
std::string edge_case_of(const Result& result) {
  if (!result.call->occurrences.empty() || result.description.empty()) return "";
  return result.name.substr(result.name.rfind('/') + 1);
}

std::string first_error(const Result& result) {
  const std::string reason = result.reason();
  const std::string clause(trimmed(reason.substr(0, reason.find_first_of("(;"))));
  return clause.empty() ? std::string(outcome_name(result)) : clause;
}

struct Cause {
  std::string edge_case = {};
  std::string dtypes = {};
  std::vector<const Result*> cases = {};
  // Where ordinary values fail, edge cases of the same operators and dtypes.
  int64_t num_edge_cases = 0;
  // By category, those that failed.
  std::map<std::string, Names> operators = {};

  int64_t size() const { return std::ssize(cases) + num_edge_cases; }
};

std::vector<Cause> find_causes(const std::vector<Result>& cases, NamesByPair& tried_operators) {
  static const std::regex figures(R"('[^']*'|\[[^\]]*\]|\w*\d\w*)");
  NamesByPair tried_dtypes;
  NamesByPair failed_dtypes;
  for (const Result& result : cases) {
    const auto& [op_type, dtype, occurrences] = *result.call;
    const std::string edge_case = edge_case_of(result);
    tried_operators[{category_of(result), edge_case}].insert(op_type);
    tried_dtypes[{op_type, edge_case}].insert(dtype);
    if (!result.is_good()) failed_dtypes[{op_type, edge_case}].insert(dtype);
  }
  std::vector<Cause> causes;
  std::map<std::vector<std::string>, size_t> by_key;
  // By operator and dtype.
  std::map<std::pair<std::string, std::string>, size_t> ordinary;
  for (const bool are_ordinary : {true, false}) {
    for (const Result& result : cases) {
      const auto& [op_type, dtype, occurrences] = *result.call;
      const std::string edge_case = edge_case_of(result);
      if (result.is_good() || edge_case.empty() != are_ordinary) continue;
      if (!are_ordinary && ordinary.contains({op_type, dtype})) {
        ++causes[ordinary.at({op_type, dtype})].num_edge_cases;
        continue;
      }
      const Names& failed = failed_dtypes[{op_type, edge_case}];
      const bool are_all = failed.size() > 1 && failed == tried_dtypes[{op_type, edge_case}];
      const std::string dtypes =
          are_all ? "every dtype" : fmt::format("{}", fmt::join(failed, ", "));
      const std::string error = std::regex_replace(first_error(result), figures, "#");
      const auto [known, is_new] = by_key.try_emplace(
          {edge_case, dtypes, error, occurrences.empty() ? "" : op_type}, causes.size());
      if (is_new) causes.push_back({.edge_case = edge_case, .dtypes = dtypes});
      causes[known->second].cases.push_back(&result);
      causes[known->second].operators[category_of(result)].insert(op_type);
      if (are_ordinary) ordinary.try_emplace({op_type, dtype}, known->second);
    }
  }
  std::ranges::stable_sort(causes, {}, [](const Cause& cause) {
    return std::pair(!cause.edge_case.empty(), -cause.size());
  });
  return causes;
}

// "in float16; 12 of 57 operators of reduction, aten.eq.Tensor".
std::string in_common(const Cause& cause, const NamesByPair& tried_operators) {
  std::vector<std::string> texts;
  for (const auto& [category, operators] : cause.operators) {
    const auto num_tried = std::ssize(tried_operators.at({category, cause.edge_case}));
    texts.push_back(operators.size() == 1 ? *operators.begin()
                                          : fmt::format("{} of {} of {}", operators.size(),
                                                        counted(num_tried, "operator"), category));
  }
  constexpr size_t kMostCategories = 3;
  return "in " + cause.dtypes + "; " + listed(texts, kMostCategories);
}

}  // namespace

std::vector<CauseLine> cause_lines(const std::vector<Result>& cases) {
  NamesByPair tried_operators;
  std::vector<CauseLine> lines;
  for (const Cause& cause : find_causes(cases, tried_operators)) {
    const Result& first = *cause.cases.front();
    CauseLine& line = lines.emplace_back(CauseLine{.num_cases = cause.size()});
    line.what = cause.edge_case.empty() ? "ordinary values"
                                        : cause.edge_case + " (" + first.description + ")";
    if (cause.num_edge_cases > 0) line.what += ", " + counted(cause.num_edge_cases, "edge case");
    line.in_common = in_common(cause, tried_operators);
    line.first_error = first_error(first);
    Names shown;
    for (const Result* result : cause.cases) {
      const bool is_other = shown.size() < 3 && shown.insert(result->call->op_type).second;
      if (is_other) line.examples.push_back(result->name);
    }
  }
  return lines;
}

Table causes_table(const std::vector<Result>& cases, size_t most) {
  Table table("lrlll", {"Fails for", "Cases", "In common", "First error", "Examples"});
  for (const CauseLine& line : cause_lines(cases)) {
    if (table.num_rows() == most) break;
    table.add({Cell::text(line.what), line.num_cases, Cell::text(line.in_common),
               Cell::text(line.first_error),
               Cell::code(fmt::format("{}", fmt::join(line.examples, " ")))});
  }
  return table;
}

std::string faulty_operators(const IR& graph, const Names& nodes) {
  std::map<std::string, std::pair<int64_t, int64_t>> counts;
  for (const OpNode& node : graph.nodes) {
    counts[node.op_type].first += nodes.contains(node.name) ? 1 : 0;
    ++counts[node.op_type].second;
  }
  std::string text;
  for (const auto& [op_type, count] : counts) {
    if (count.first == 0) continue;
    text += fmt::format("{}{} in {} of {}", text.empty() ? "Faulty operators: " : ", ",
                        code_span(op_type), count.first, counted(count.second, "call"));
  }
  return text.empty() ? "" : text + ".";
}

}  // namespace torch_ir
