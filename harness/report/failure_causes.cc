#include "harness/report/failure_causes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <regex>
#include <string_view>
#include <tuple>
#include <utility>

#include "harness/report/markup.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"

namespace torch_ir {
namespace {

using Names = std::set<std::string>;

bool is_of_model(const Result& result) { return !result.call->occurrences.empty(); }

// "denormal"; empty for ordinary values.
std::string edge_case_of(const Result& result) {
  if (is_of_model(result) || result.description.empty()) return "";
  return result.name.substr(result.name.rfind('/') + 1);
}

std::string first_error(const Result& result) {
  const std::string reason = result.reason();
  const std::string_view clause =
      trimmed(std::string_view(reason).substr(0, reason.find_first_of("(;")));
  return std::string(clause.empty() ? outcome_name(result) : clause);
}

std::string without_figures(const std::string& text) {
  static const std::regex figures(R"('[^']*'|\[[^\]]*\]|\w*\d\w*)");
  return std::regex_replace(text, figures, "#");
}

// The cases of a suite, failed or not.
struct Tried {
  struct Dtypes {
    Names all = {};
    Names failed = {};

    std::string text() const {
      constexpr size_t kMostNames = 5;
      if (all.size() > 1 && failed == all) return "every dtype";
      if (failed.size() <= kMostNames) return fmt::format("{}", fmt::join(failed, ", "));
      return fmt::format("{} of {} dtypes", failed.size(), all.size());
    }
  };

  explicit Tried(const std::vector<Result>& cases) {
    for (const Result& result : cases) {
      const CallInfo& call = *result.call;
      const std::string edge_case = edge_case_of(result);
      Dtypes& of_call = dtypes[{call.op_type, edge_case}];
      of_call.all.insert(call.dtype);
      if (!result.is_good()) of_call.failed.insert(call.dtype);
      operators[{category_of(result), edge_case}].insert(call.op_type);
      num_calls[call.op_type] += std::ssize(call.occurrences);
    }
  }

  // By operator and edge case.
  std::map<std::pair<std::string, std::string>, Dtypes> dtypes = {};
  // By category and edge case.
  std::map<std::pair<std::string, std::string>, Names> operators = {};
  // In models, by operator.
  std::map<std::string, int64_t> num_calls = {};
};

struct Cause {
  std::string edge_case = {};
  std::string dtypes = {};
  std::vector<const Result*> cases = {};
  // Where ordinary values fail, edge cases of the same operators and dtypes.
  int64_t num_edge_cases = 0;

  int64_t size() const { return std::ssize(cases) + num_edge_cases; }
};

std::vector<Cause> find_causes(const std::vector<Result>& cases, const Tried& tried) {
  std::vector<Cause> causes;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, size_t> by_key;
  // By operator and dtype.
  std::map<std::pair<std::string, std::string>, size_t> ordinary;
  for (const bool are_ordinary : {true, false}) {
    for (const Result& result : cases) {
      const std::string edge_case = edge_case_of(result);
      if (result.is_good() || edge_case.empty() != are_ordinary) continue;
      const CallInfo& call = *result.call;
      if (!are_ordinary && ordinary.contains({call.op_type, call.dtype})) {
        ++causes[ordinary.at({call.op_type, call.dtype})].num_edge_cases;
        continue;
      }
      const std::string dtypes = tried.dtypes.at({call.op_type, edge_case}).text();
      const auto [known, is_new] = by_key.try_emplace(
          {edge_case, dtypes,
           std::string(outcome_name(result)) + without_figures(first_error(result)),
           is_of_model(result) ? call.op_type : ""},
          causes.size());
      if (is_new) causes.push_back({.edge_case = edge_case, .dtypes = dtypes});
      causes[known->second].cases.push_back(&result);
      if (are_ordinary) ordinary.try_emplace({call.op_type, call.dtype}, known->second);
    }
  }
  std::ranges::stable_sort(causes, {}, [](const Cause& cause) {
    return std::pair(!cause.edge_case.empty(), -cause.size());
  });
  return causes;
}

std::string what_fails(const Cause& cause) {
  if (!cause.edge_case.empty()) {
    return fmt::format("{} ({})", cause.edge_case, cause.cases.front()->description);
  }
  if (cause.num_edge_cases == 0) return "ordinary values";
  return "ordinary values, and " + counted(cause.num_edge_cases, "edge case");
}

// "in float16; all 12 operators of reduction, 3 of 80 operators of pointwise, aten.eq.Tensor".
std::string in_common(const Cause& cause, const Tried& tried) {
  std::string text = cause.dtypes.empty() ? "" : "in " + cause.dtypes + "; ";
  const Result& first = *cause.cases.front();
  if (is_of_model(first)) {
    int64_t num_failed = 0;
    for (const Result* result : cause.cases) num_failed += std::ssize(result->call->occurrences);
    const std::string& op_type = first.call->op_type;
    return text + fmt::format("{} in {} of {}", op_type, num_failed,
                              counted(tried.num_calls.at(op_type), "call"));
  }
  std::map<std::string, Names> by_category;
  for (const Result* result : cause.cases) {
    by_category[category_of(*result)].insert(result->call->op_type);
  }
  std::vector<std::pair<std::string, Names>> categories(by_category.begin(), by_category.end());
  std::ranges::stable_sort(categories, std::ranges::greater(),
                           [](const auto& category) { return category.second.size(); });
  std::vector<std::string> texts;
  for (const auto& [category, operators] : categories) {
    if (operators.size() == 1) {
      texts.push_back(*operators.begin());
      continue;
    }
    const size_t num_tried = tried.operators.at({category, cause.edge_case}).size();
    const std::string noun = counted(static_cast<int64_t>(num_tried), "operator");
    texts.push_back((operators.size() == num_tried
                         ? "all " + noun
                         : fmt::format("{} of {}", operators.size(), noun)) +
                    " of " + category);
  }
  constexpr size_t kMostCategories = 3;
  return text + listed(texts, kMostCategories);
}

// Of different operators, if possible.
std::vector<std::string> examples(const Cause& cause) {
  constexpr size_t kMostExamples = 3;
  std::vector<std::string> names;
  Names operators;
  for (const Result* result : cause.cases) {
    if (names.size() == kMostExamples) break;
    if (operators.insert(result->call->op_type).second) names.push_back(result->name);
  }
  return names;
}

}  // namespace

Table causes_table(const std::vector<Result>& cases, size_t most) {
  const Tried tried(cases);
  Table table("lrlll", {"Fails for", "Cases", "In common", "First error", "Examples"});
  for (const Cause& cause : find_causes(cases, tried)) {
    if (table.num_rows() == most) break;
    Cell names = "";
    for (const std::string& name : examples(cause)) {
      const Cell cell = Cell::code(name);
      const char* separator = names.html.empty() ? "" : ", ";
      names.markdown += separator + cell.markdown;
      names.html += separator + cell.html;
    }
    table.add({Cell::text(what_fails(cause)), cause.size(), Cell::text(in_common(cause, tried)),
               Cell::text(first_error(*cause.cases.front())), names});
  }
  return table;
}

std::vector<std::string> cause_lines(const std::vector<Result>& cases) {
  const Tried tried(cases);
  std::vector<std::string> lines;
  for (const Cause& cause : find_causes(cases, tried)) {
    const Result& first = *cause.cases.front();
    lines.push_back(printable(fmt::format("{:>5}  {}: {}: {}; {}", cause.size(), what_fails(cause),
                                          in_common(cause, tried), first_error(first), first.name),
                              kMaxMessageSize));
  }
  return lines;
}

std::string faulty_operators(const IR& graph, const Names& nodes) {
  std::map<std::string, std::pair<int64_t, int64_t>> counts;
  for (const OpNode& node : graph.nodes) {
    auto& [num_faulty, num_calls] = counts[node.op_type];
    num_faulty += nodes.contains(node.name) ? 1 : 0;
    ++num_calls;
  }
  std::vector<std::pair<int64_t, std::string>> operators;
  for (const auto& [op_type, count] : counts) {
    const auto& [num_faulty, num_calls] = count;
    if (num_faulty == 0) continue;
    operators.emplace_back(num_faulty, fmt::format("{} in {} of {}", code_span(op_type), num_faulty,
                                                   counted(num_calls, "call")));
  }
  std::ranges::stable_sort(operators, std::ranges::greater(),
                           &std::pair<int64_t, std::string>::first);
  std::vector<std::string> texts;
  for (auto& [num_faulty, text] : operators) texts.push_back(std::move(text));
  return texts.empty() ? "" : fmt::format("Faulty operators: {}.", fmt::join(texts, ", "));
}

}  // namespace torch_ir
