// OPERATORS.md, the results of single calls, and the section about the nodes of a split model.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "harness/report/page_text.h"
#include "harness/report/run_text.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/cases/split.h"

namespace torch_ir {
namespace {

using Cases = std::vector<Result>;

// results.json has all of them.
constexpr size_t kMostBadCases = 200;
constexpr size_t kMostCalls = 1000;

constexpr std::string_view kDtypeOrder[] = {"float32",   "float64",    "float16", "bfloat16",
                                            "complex64", "complex128", "int64",   "int32",
                                            "int16",     "int8",       "uint8",   "bool"};

size_t dtype_rank(const std::string& dtype) {
  return static_cast<size_t>(std::ranges::find(kDtypeOrder, dtype) - std::begin(kDtypeOrder));
}

std::string capitalized(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

// "✅", "❌" or "–".
std::string_view case_mark(const Result& result) {
  if (result.passed()) return "✅";
  return result.is_good() ? "–" : "❌";
}

struct Score {
  int64_t passed = 0;
  int64_t tried = 0;
  bool is_all_unsupported = true;
  // The greatest one.
  double own_error = 0;

  void add(const Result& result) {
    ++tried;
    if (result.own_error) own_error = std::max(own_error, result.own_error->rms_ratio);
    passed += result.passed() ? 1 : 0;
    is_all_unsupported &= result.lacks_support();
  }

  std::string cell() const {
    if (tried == 0) return "";
    if (passed == tried) return fmt::format("{}", tried);
    if (is_all_unsupported) return "–";
    return fmt::format("❌ {}/{}", passed, tried);
  }
};

// Lists operators that have cases with a reason, and the first reason of each.
template <class Reason>
Table reasons_table(const Cases& cases, const Reason& reason_of) {
  std::map<std::string, std::pair<int64_t, std::string>> operators;
  for (const Result& result : cases) {
    const std::string reason = reason_of(result);
    if (reason.empty()) continue;
    ++operators.try_emplace(result.call->op_type, 0, reason).first->second.first;
  }
  Table table("lrl", {"Operator", "Cases", "Reason"});
  for (const auto& [op_type, reason] : operators) {
    table.add({code_cell(op_type), reason.first, text_cell(reason.second)});
  }
  return table;
}

// A section of OPERATORS.md and index.html.
struct Part {
  std::string title;
  Table table;
  std::string text = {};
  // Behind the table.
  std::string more = {};
  // In index.html, behind the title.
  std::string score = {};
};

Part bad_cases(const Cases& cases) {
  Table table("lllrrl",
              {"Case", "", "Status", "Max&nbsp;abs.&nbsp;error", "Own&nbsp;error", "Reason"});
  size_t num_bad = 0;
  for (const Result& result : cases) {
    if (result.is_good() || ++num_bad > kMostBadCases) continue;
    table.add({Cell::code(result.name), Cell::text(result.description), outcome_name(result),
               max_diff_text(result), own_error_cell(result.own_error),
               Cell::text(result.reason())});
  }
  const std::string more = num_bad > kMostBadCases ? fmt::format("`results.json` lists {} more.",
                                                                 num_bad - kMostBadCases)
                                                   : "";
  return {.title = "Failing cases", .table = std::move(table), .more = more};
}

Part operators_in(const std::string& name, const std::vector<const Result*>& cases) {
  // By operator and dtype, and by operator alone.
  std::map<std::pair<std::string, std::string>, Score> by_dtype;
  std::map<std::string, Score> totals;
  std::set<std::string> names;
  Score all;
  for (const Result* result : cases) {
    const auto& [op_type, dtype, occurrences] = *result->call;
    by_dtype[{op_type, dtype}].add(*result);
    totals[op_type].add(*result);
    names.insert(dtype);
    all.add(*result);
  }
  std::vector<std::string> dtypes(names.begin(), names.end());
  std::ranges::stable_sort(dtypes, {}, dtype_rank);
  std::vector<Cell> heads = {"Operator"};
  for (const std::string& dtype : dtypes) heads.push_back(Cell::text(dtype));
  heads.push_back("Cases");
  heads.push_back("Own&nbsp;error");
  Table table("l" + std::string(heads.size() - 1, 'r'), heads);
  for (const auto& [op_type, total] : totals) {
    std::vector<Cell> cells = {Cell::code(op_type)};
    for (const std::string& dtype : dtypes) cells.push_back(by_dtype[{op_type, dtype}].cell());
    cells.push_back(total.cell());
    cells.push_back(total.own_error > 0 ? short_number(total.own_error) : "");
    table.add(cells);
  }
  return {.title = capitalized(name),
          .table = std::move(table),
          .score = fmt::format(": {} of {} passed", all.passed, all.tried)};
}

// In order of first occurrence.
std::vector<std::string> models_in(const Cases& cases) {
  std::vector<std::string> models;
  for (const Result& result : cases) {
    for (const CaseOccurrence& occurrence : result.call->occurrences) {
      const bool is_known = std::ranges::find(models, occurrence.model) != models.end();
      if (!is_known) models.push_back(occurrence.model);
    }
  }
  return models;
}

Table calls_table(const Cases& cases) {
  const std::vector<std::string> models = models_in(cases);
  std::vector<Cell> heads = {"Call", "Attributes", "Status", "Max&nbsp;abs.&nbsp;error",
                             "Own&nbsp;error"};
  for (const std::string& model : models) heads.push_back(Cell::text(model));
  Table table("lll" + std::string(heads.size() - 3, 'r'), heads);
  for (const Result& result : cases) {
    if (result.call->occurrences.empty() || table.num_rows() == kMostCalls) continue;
    const std::string status(result.passed() ? "" : " " + std::string(outcome_name(result)));
    std::vector<Cell> cells = {Cell::code(result.name), Cell::text(result.description),
                               std::string(case_mark(result)) + status, max_diff_text(result),
                               own_error_cell(result.own_error)};
    for (const std::string& model : models) {
      const auto count =
          std::ranges::count(result.call->occurrences, model, &CaseOccurrence::model);
      cells.push_back(count == 0 ? "" : with_thousands_separators(count));
    }
    table.add(cells);
  }
  return table;
}

std::vector<Part> parts_of(const Cases& cases) {
  std::vector<Part> parts = {
      {.title = "Failures by cause",
       .table = causes_table(failure_causes({}, cases)),
       .text = "Operators that are wrong for ordinary values come first; their edge cases count "
               "there too."},
      bad_cases(cases),
      {.title = "Unsupported operators",
       .table = reasons_table(
           cases, [](const Result& it) { return it.lacks_support() ? it.reason() : ""; })},
      {.title = "Passed on the host",
       .table = reasons_table(cases, [](const Result& it) { return host_text(it); })}};
  std::map<std::string, std::vector<const Result*>> by_category;
  for (const Result& it : cases) by_category[category_of(it)].push_back(&it);
  by_category.erase(kSplitCategory);
  for (const auto& [name, members] : by_category) parts.push_back(operators_in(name, members));
  parts.push_back({.title = "Calls in models",
                   .table = calls_table(cases),
                   .text = "Each distinct call, and how often each model makes it."});
  std::erase_if(parts, [](const Part& part) { return part.table.num_rows() == 0; });
  return parts;
}

std::string how_judged(const RunSettings& settings) {
  if (settings.criterion.reference == ReferenceKind::kFloat64) {
    return "the error of its outputs against float64 is at most the error factor times eager's "
           "or, where float64 says nothing, if they are within the tolerance";
  }
  if (settings.tolerance_wins) return "its outputs are within " + tolerance_rule_text(settings);
  return "its outputs are within its own tolerance, or that of torch.testing.assert_close for the "
         "dtype, or if their error against float64 is at most the error factor times eager's";
}

constexpr size_t kMostRows = 2000;

std::string accumulated_text(const OpNode& node, const Result& result) {
  if (!result.nodes) return "";
  const NodeReport& report = *result.nodes;
  const auto detail = std::ranges::find(report.worst, node.name, &ValueDetail::node);
  if (detail != report.worst.end()) {
    return detail->comparison.mismatch.empty() ? short_number(detail->comparison.max_diff)
                                               : "not comparable";
  }
  const auto is_it = [&](const NodeReport::Skipped& skipped) {
    return std::ranges::find(node.outputs, skipped.value, &TensorMeta::name) != node.outputs.end();
  };
  if (std::ranges::any_of(report.skipped, is_it)) return "not compared";
  if (!report.error.empty()) return "";
  // Only the worst kMaxDetails values are kept.
  return report.worst.size() < kMaxDetails ? "0" : "below those listed above";
}

}  // namespace

std::string calls_section(const Result& result, const std::vector<Result>& cases) {
  std::map<std::string, std::pair<const Result*, const CaseOccurrence*>> by_node;
  for (const Result& it : cases) {
    for (const CaseOccurrence& occurrence : it.call->occurrences) {
      if (occurrence.model == result.name) by_node[occurrence.node] = {&it, &occurrence};
    }
  }
  if (by_node.empty() || !result.graph) return "";
  int64_t num_run = 0;
  int64_t num_passed = 0;
  std::map<std::string, std::string> faulty;
  Table table("llllrr", {"Node", "Operator", "Module and source", "Alone", "Max abs. error alone",
                         "Max abs. error in the graph"});
  for (const OpNode& node : result.graph->nodes) {
    const auto call = by_node.find(node.name);
    if (call == by_node.end()) continue;
    const auto& [alone, occurrence] = call->second;
    const CaseOccurrence& first = alone->call->occurrences.front();
    const bool is_first = occurrence == &first;
    num_run += is_first ? 1 : 0;
    num_passed += is_first && alone->passed() ? 1 : 0;
    if (!alone->is_good()) faulty.emplace(node.name, node.op_type);
    if (table.num_rows() == kMostRows) continue;
    const std::string model = first.model == result.name ? "" : " of " + text_cell(first.model);
    table.add({code_cell(node.name), code_cell(node.op_type),
               text_cell(trimmed(occurrence->module + " " + occurrence->source)),
               is_first ? fmt::format("{} {}", case_mark(*alone), outcome_name(*alone))
                        : "as " + code_cell(first.node) + model + ", not run",
               is_first ? max_diff_text(*alone) : "", accumulated_text(node, result)});
  }
  const auto num_equal = std::ssize(by_node) - num_run;
  return section(
      "## Calls alone and in the graph",
      {fmt::format(
           "{} of {} pass alone, on the inputs that the model computes for them{}. The last "
           "column is the error when the whole graph runs.",
           num_passed, counted(num_run, "call"),
           num_equal == 0
               ? ""
               : fmt::format("; {} not run, because they equal one that ran", num_equal)),
       faulty_operators(result, faulty, code_span), folded("Each call", table.markdown())});
}

json_fields::Json operators_json(const Cases& cases) {
  if (cases.empty()) return {};
  json_fields::Json parts = json_fields::Json::array();
  for (const Part& part : parts_of(cases)) {
    parts.push_back({part.title + part.score, part.table.json()});
  }
  return {{"verdict", cases_text(cases)}, {"parts", parts}};
}

std::string render_operators(const RunRecord& run) {
  const Cases& cases = run.cases;
  std::vector<std::string> blocks = {
      fmt::format("{} **{}{}**", cases_mark(run), interrupted_prefix(run.coverage),
                  cases_text(cases)),
      fmt::format("{} Each case is one call. It passes if {}.",
                  cases_coverage_text(cases, run.coverage), how_judged(run.context.settings))};
  for (const Part& part : parts_of(cases)) {
    blocks.push_back(section("## " + escape_markdown(part.title),
                             {part.text, part.table.markdown(), part.more}));
  }
  blocks.push_back(
      "A cell shows how many cases passed and how many were tried. A single number means that all "
      "passed; – means that none of them is supported. \"Own error\" is the largest error of a "
      "case "
      "against float64, in errors of eager operators, of the cases outside their tolerance.");
  constexpr size_t kWithSeed = 5;
  blocks.push_back(reproduce_section(run.coverage, run.context, 1, kWithSeed));
  return section("# Operators", blocks) + "\n";
}

}  // namespace torch_ir
