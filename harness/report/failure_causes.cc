#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <tuple>

#include "harness/report/page_text.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

using Names = std::set<std::string>;
using NamesByPair = std::map<std::pair<std::string, std::string>, Names>;

std::string without_figures(const std::string& text) {
  static const std::regex figures(R"('[^']*'|\[[^\]]*\]|[\w.]*\d[\w.]*)");
  return std::regex_replace(text, figures, "#");
}

bool is_of_suite(const Result& result) { return result.call && result.call->occurrences.empty(); }

// "denormal"; empty for ordinary values.
std::string edge_case_of(const Result& result) {
  if (!is_of_suite(result) || result.description.empty()) return "";
  return result.name.substr(result.name.rfind('/') + 1);
}

// A cause and what its failures have in common.
struct Group {
  FailureCause cause = {};
  Finding finding = {};
  // Of the suite: the edge case and its note, the dtypes and, by category, operators that failed.
  std::string edge_case = {};
  std::string note = {};
  std::string dtypes = {};
  std::map<std::string, Names> operators = {};
  // Where ordinary values fail, edge cases of the same operators and dtypes.
  int64_t num_edge_cases = 0;
  Names example_operators = {};

  void add(const Result& call) {
    ++cause.num_calls;
    const std::string& op_type = call.call->op_type;
    if (is_of_suite(call)) operators[category_of(call)].insert(op_type);
    constexpr size_t kMostExamples = 3;
    const bool has_room = example_operators.size() < kMostExamples;
    if (has_room && example_operators.insert(op_type).second) cause.examples.push_back(call.name);
  }

  // The least comes first.
  auto rank() const {
    return std::tuple(cause.models.empty(), !edge_case.empty(), -std::ssize(cause.models),
                      -cause.num_calls);
  }

  std::string what() const {
    if (operators.empty()) return finding.what();
    std::string text = edge_case.empty() ? "ordinary values" : edge_case + " (" + note + ")";
    if (num_edge_cases > 0) text += ", " + counted(num_edge_cases, "edge case");
    return text + ", " + finding.cause;
  }

  // "in float16; 12 of 57 operators of reduction, aten.eq.Tensor". Those that were tried are by
  // category and edge case.
  std::string in_common(const NamesByPair& tried_operators) const {
    if (operators.empty()) return "";
    std::vector<std::string> texts;
    for (const auto& [category, failed] : operators) {
      const auto num_tried = std::ssize(tried_operators.at({category, edge_case}));
      texts.push_back(failed.size() == 1 ? *failed.begin()
                                         : fmt::format("{} of {} of {}", failed.size(),
                                                       counted(num_tried, "operator"), category));
    }
    constexpr size_t kMostCategories = 3;
    return "in " + dtypes + "; " + listed(texts, kMostCategories);
  }
};

}  // namespace

std::vector<FailureCause> failure_causes(const std::vector<Result>& models,
                                         const std::vector<Result>& cases) {
  std::vector<Group> groups;
  std::map<std::array<std::string, 4>, size_t> by_key;
  // `dtypes` is for cases of the suite, whose operators may differ.
  const auto group_of = [&](const Result& result, const std::string& dtypes) {
    const Finding finding = finding_of(result);
    const std::string edge_case = edge_case_of(result);
    const auto [known, is_new] = by_key.try_emplace(
        {edge_case, dtypes, dtypes.empty() ? finding.op : "", without_figures(finding.cause)},
        groups.size());
    if (is_new) {
      groups.push_back({.finding = finding,
                        .edge_case = edge_case,
                        .note = result.description,
                        .dtypes = dtypes});
    }
    return known->second;
  };
  for (const Result& result : models) {
    if (!result.is_good()) groups[group_of(result, "")].cause.models.push_back(result.name);
  }
  NamesByPair tried_operators;
  NamesByPair tried_dtypes;
  NamesByPair failed_dtypes;
  for (const Result& result : cases) {
    const auto& [op_type, dtype, occurrences] = *result.call;
    const std::string edge_case = edge_case_of(result);
    tried_operators[{category_of(result), edge_case}].insert(op_type);
    tried_dtypes[{op_type, edge_case}].insert(dtype);
    if (!result.is_good()) failed_dtypes[{op_type, edge_case}].insert(dtype);
  }
  // Groups of ordinary values by operator and dtype.
  std::map<std::pair<std::string, std::string>, size_t> ordinary;
  for (const bool are_ordinary : {true, false}) {
    for (const Result& result : cases) {
      const auto& [op_type, dtype, occurrences] = *result.call;
      const std::string edge_case = edge_case_of(result);
      if (result.is_good() || edge_case.empty() != are_ordinary) continue;
      const auto known = ordinary.find({op_type, dtype});
      if (!are_ordinary && known != ordinary.end()) {
        ++groups[known->second].num_edge_cases;
        ++groups[known->second].cause.num_calls;
        continue;
      }
      const Names& failed = failed_dtypes[{op_type, edge_case}];
      const bool are_all = failed.size() > 1 && failed == tried_dtypes[{op_type, edge_case}];
      const size_t group = group_of(result, !is_of_suite(result) ? ""
                                            : are_all            ? "every dtype"
                                                      : fmt::format("{}", fmt::join(failed, ", ")));
      groups[group].add(result);
      if (are_ordinary) ordinary.try_emplace({op_type, dtype}, group);
    }
  }
  std::ranges::stable_sort(groups, {}, &Group::rank);
  std::vector<FailureCause> causes;
  for (const Group& group : groups) {
    FailureCause& cause = causes.emplace_back(group.cause);
    cause.what = short_line(printable(group.what(), SIZE_MAX), kMaxFinding);
    cause.in_common = group.in_common(tried_operators);
  }
  return causes;
}

Table causes_table(const std::vector<FailureCause>& causes, size_t most) {
  Table table("lrrll", {"Cause", "Models", "Calls", "In common", "For example"});
  for (const FailureCause& cause : causes) {
    if (table.num_rows() == most) break;
    std::vector<std::string> links;
    for (const std::string& model : cause.models) links.push_back(page_link(model));
    constexpr size_t kMostModels = 10;
    std::string examples = listed(links, kMostModels);
    if (!cause.examples.empty()) {
      examples += (examples.empty() ? "" : ", ") + code_list(cause.examples, " ");
    }
    const auto count = [](int64_t number) { return number == 0 ? Cell("") : Cell(number); };
    // index.html has this table of calls alone.
    table.add({Cell::text(cause.what),
               count(std::ssize(cause.models)),
               count(cause.num_calls),
               Cell::text(cause.in_common),
               {examples, fmt::format("{}", fmt::join(cause.examples, " "))}});
  }
  return table.without_empty_columns();
}

std::string causes_lines(const std::vector<FailureCause>& causes, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(most, causes.size()); ++i) {
    const FailureCause& cause = causes[i];
    constexpr size_t kMostNames = 5;
    std::vector<std::string> counts;
    if (!cause.models.empty()) counts.push_back(counted(std::ssize(cause.models), "model"));
    if (cause.num_calls > 0) counts.push_back(counted(cause.num_calls, "call"));
    std::vector<std::string> details;
    if (!cause.in_common.empty()) details.push_back(cause.in_common);
    const auto& names = cause.models.empty() ? cause.examples : cause.models;
    details.push_back(listed(names, kMostNames, cause.models.size()));
    text += printable(fmt::format("  {}: {}: {}", cause.what, fmt::join(counts, ", "),
                                  fmt::join(details, "; ")),
                      kMaxMessageSize) +
            "\n";
  }
  if (causes.size() > most) text += fmt::format("  ... and {} more\n", causes.size() - most);
  return text;
}

std::string faulty_operators(const Result& result, const std::map<std::string, std::string>& nodes,
                             const Format& code) {
  if (nodes.empty()) return "";
  const auto summary = result.graph_summary();
  if (!summary) return "";
  const auto& calls = summary->figures.op_distribution;
  std::map<std::string, int64_t> counts;
  for (const auto& [node, op_type] : nodes) ++counts[op_type];
  std::string text;
  for (const auto& [op_type, count] : counts) {
    const auto all = std::ranges::find(calls, op_type, &std::pair<std::string, int64_t>::first);
    if (all == calls.end()) continue;
    text += fmt::format("{}{} in {} of {}", text.empty() ? "Faulty operators: " : ", ",
                        code(op_type), count, counted(all->second, "call"));
  }
  return text.empty() ? "" : text + ".";
}

}  // namespace torch_ir
