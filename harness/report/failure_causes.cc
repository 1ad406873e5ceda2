#include "harness/report/failure_causes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <tuple>
#include <utility>

#include "harness/report/finding.h"
#include "harness/report/markup.h"
#include "harness/report/page_text.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"

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

struct Cause {
  std::string edge_case = {};
  std::string dtypes = {};
  std::vector<std::string> models = {};
  std::vector<const Result*> cases = {};
  // Where ordinary values fail, edge cases of the same operators and dtypes.
  int64_t num_edge_cases = 0;
  // Of the suite: by category, those that failed.
  std::map<std::string, Names> operators = {};
  Finding finding = {};

  int64_t num_calls() const { return std::ssize(cases) + num_edge_cases; }
  // The least comes first.
  auto rank() const {
    return std::tuple(models.empty(), !edge_case.empty(), -std::ssize(models), -num_calls());
  }
};

class Causes {
 public:
  void add_models(const std::vector<Result>& results) {
    for (const Result& result : results) {
      if (!result.is_good()) cause_of(result, {}).models.push_back(result.name);
    }
  }

  void add_cases(const std::vector<Result>& cases) {
    NamesByPair tried_dtypes;
    NamesByPair failed_dtypes;
    for (const Result& result : cases) {
      const auto& [op_type, dtype, occurrences] = *result.call;
      const std::string edge_case = edge_case_of(result);
      tried_operators_[{category_of(result), edge_case}].insert(op_type);
      tried_dtypes[{op_type, edge_case}].insert(dtype);
      if (!result.is_good()) failed_dtypes[{op_type, edge_case}].insert(dtype);
    }
    // By operator and dtype.
    std::map<std::pair<std::string, std::string>, size_t> ordinary;
    for (const bool are_ordinary : {true, false}) {
      for (const Result& result : cases) {
        const auto& [op_type, dtype, occurrences] = *result.call;
        const std::string edge_case = edge_case_of(result);
        if (result.is_good() || edge_case.empty() != are_ordinary) continue;
        if (!are_ordinary && ordinary.contains({op_type, dtype})) {
          ++causes_[ordinary.at({op_type, dtype})].num_edge_cases;
          continue;
        }
        const Names& failed = failed_dtypes[{op_type, edge_case}];
        const bool are_all = failed.size() > 1 && failed == tried_dtypes[{op_type, edge_case}];
        const bool is_of_model = !is_of_suite(result);
        Cause& cause = cause_of(result, is_of_model ? ""
                                        : are_all   ? "every dtype"
                                                    : fmt::format("{}", fmt::join(failed, ", ")));
        cause.cases.push_back(&result);
        if (!is_of_model) cause.operators[category_of(result)].insert(op_type);
        if (are_ordinary) {
          ordinary.try_emplace({op_type, dtype}, static_cast<size_t>(&cause - causes_.data()));
        }
      }
    }
  }

  std::vector<FailureCause> sorted() {
    std::ranges::stable_sort(causes_, {}, &Cause::rank);
    std::vector<FailureCause> found;
    for (const Cause& cause : causes_) found.push_back(described(cause));
    return found;
  }

 private:
  // `dtypes` is for cases of the suite, whose operators may differ.
  Cause& cause_of(const Result& result, const std::string& dtypes) {
    const Finding finding = finding_of(result);
    const std::string edge_case = edge_case_of(result);
    const auto [known, is_new] = by_key_.try_emplace(
        {edge_case, dtypes, dtypes.empty() ? finding.op : "", without_figures(finding.cause)},
        causes_.size());
    if (is_new) {
      causes_.push_back({.edge_case = edge_case, .dtypes = dtypes, .finding = finding});
    }
    return causes_[known->second];
  }

  // "in float16; 12 of 57 operators of reduction, aten.eq.Tensor".
  std::string in_common(const Cause& cause) const {
    if (cause.operators.empty()) return "";
    std::vector<std::string> texts;
    for (const auto& [category, operators] : cause.operators) {
      const auto num_tried = std::ssize(tried_operators_.at({category, cause.edge_case}));
      texts.push_back(operators.size() == 1
                          ? *operators.begin()
                          : fmt::format("{} of {} of {}", operators.size(),
                                        counted(num_tried, "operator"), category));
    }
    constexpr size_t kMostCategories = 3;
    return "in " + cause.dtypes + "; " + listed(texts, kMostCategories);
  }

  FailureCause described(const Cause& cause) const {
    std::string what = cause.finding.what();
    if (!cause.operators.empty()) {
      what = "ordinary values";
      if (!cause.edge_case.empty()) {
        what = cause.edge_case + " (" + cause.cases.front()->description + ")";
      }
      if (cause.num_edge_cases > 0) what += ", " + counted(cause.num_edge_cases, "edge case");
      what += ", " + cause.finding.cause;
    }
    FailureCause described{.what = short_line(printable(what, SIZE_MAX), kMaxFinding),
                           .models = cause.models,
                           .num_calls = cause.num_calls(),
                           .in_common = in_common(cause)};
    Names shown;
    for (const Result* result : cause.cases) {
      const bool is_other = shown.size() < 3 && shown.insert(result->call->op_type).second;
      if (is_other) described.examples.push_back(result->name);
    }
    return described;
  }

  std::vector<Cause> causes_;
  std::map<std::array<std::string, 4>, size_t> by_key_;
  NamesByPair tried_operators_;
};

}  // namespace

std::string FailureCause::count_text() const {
  const std::string calls = num_calls == 0 ? "" : counted(num_calls, "call");
  if (models.empty()) return calls;
  return counted(std::ssize(models), "model") + (calls.empty() ? "" : ", ") + calls;
}

std::vector<FailureCause> failure_causes(const std::vector<Result>& models,
                                         const std::vector<Result>& cases) {
  Causes causes;
  causes.add_models(models);
  causes.add_cases(cases);
  return causes.sorted();
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
    std::vector<std::string> details;
    if (!cause.in_common.empty()) details.push_back(cause.in_common);
    const auto& names = cause.models.empty() ? cause.examples : cause.models;
    details.push_back(listed(names, kMostNames, cause.models.size()));
    text += printable(fmt::format("  {}: {}: {}", cause.what, cause.count_text(),
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
