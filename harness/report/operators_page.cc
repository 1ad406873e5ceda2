// OPERATORS.md: the scoreboard of single calls.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "harness/report/markup.h"
#include "harness/report/page_text.h"
#include "harness/report/pages.h"
#include "harness/report/run_text.h"
#include "templates/templates.h"
#include "torch_ir/analysis/summary.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/cases/split.h"

namespace torch_ir {
namespace {

using Data = kainjow::mustache::data;
using List = kainjow::mustache::list;
using Cases = std::vector<ModelResult>;

// results.json has all.
constexpr size_t kMostBadCases = 200;
constexpr size_t kMostCalls = 1000;

// The columns of dtypes, in this order; others behind them.
constexpr std::string_view kDtypeOrder[] = {"float32",   "float64",    "float16", "bfloat16",
                                            "complex64", "complex128", "int64",   "int32",
                                            "int16",     "int8",       "uint8",   "bool"};

size_t dtype_rank(const std::string& dtype) {
  return static_cast<size_t>(std::ranges::find(kDtypeOrder, dtype) - std::begin(kDtypeOrder));
}

// How many passed of how many.
struct Score {
  int64_t passed = 0;
  int64_t tried = 0;
  bool is_all_unsupported = true;

  void add(const ModelResult& result) {
    ++tried;
    passed += result.passed() ? 1 : 0;
    is_all_unsupported &= result.unsupported.has_value();
  }

  std::string cell() const {
    if (tried == 0) return "";
    if (passed == tried) return fmt::format("{}", tried);
    if (is_all_unsupported) return "–";
    return fmt::format("❌ {}/{}", passed, tried);
  }
};

std::string max_diff_cell(const ModelResult& result, const RunContext& context) {
  const std::optional<double> max_diff = difference_metrics(result).max_diff;
  return max_diff ? difference_text(*max_diff, context) : "";
}

// How far a case, and eager, are from float64.
void set_errors(const ModelResult& result, const RunContext& context, Data& row) {
  if (!result.second_opinion || !result.second_opinion->reason.empty()) return;
  row.set("executor_error", difference_text(result.second_opinion->executor_error, context));
  row.set("eager_error", difference_text(result.second_opinion->eager_error, context));
}

// "4.2" for the worst of several, empty where none is worse.
std::string worst_factor_text(const std::vector<const ModelResult*>& cases) {
  double worst = 1;
  for (const ModelResult* it : cases) worst = std::max(worst, worst_factor(*it).value_or(1));
  return worst > 1 ? short_number(worst) : "";
}

// What float64 says of all of them.
std::string opinions_text(const Cases& cases) {
  int64_t known = 0;
  int64_t worse = 0;
  int64_t better = 0;
  for (const ModelResult& it : cases) {
    const std::optional<double> factor = worst_factor(it);
    known += factor ? 1 : 0;
    worse += factor && *factor > kAsGoodAsEager ? 1 : 0;
    better += factor && *factor < 1 / kAsGoodAsEager ? 1 : 0;
  }
  return fmt::format(
      "Of {} of the cases there is a second opinion, a run in float64: {} as good as eager, {} "
      "worse, "
      "and {} better, where eager is the inaccurate one.",
      with_thousands_separators(known), with_thousands_separators(known - worse - better),
      with_thousands_separators(worse), with_thousands_separators(better));
}

std::string case_mark(const ModelResult& result) {
  if (result.passed()) return "✅";
  return fmt::format("{} {}", result.is_good() ? "–" : "❌", outcome_name(result));
}

List status_list(const Cases& cases) {
  List list;
  for (const auto& [outcome, count] : outcomes_of(cases)) {
    std::string name(outcome);
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    Data item;
    item.set("name", name);
    item.set("count", with_thousands_separators(count));
    list.push_back(item);
  }
  return list;
}

// Beside what is only not supported.
bool is_bad(const ModelResult& result) { return !result.is_good(); }

// An operator a row, with what was said of its first case.
List unsupported_rows(const Cases& cases) {
  std::map<std::string, std::pair<int64_t, std::string>> operators;
  for (const ModelResult& result : cases) {
    if (!result.unsupported) continue;
    auto& [count, message] =
        operators.try_emplace(result.call->op_type, 0, result.reason()).first->second;
    ++count;
  }
  List rows;
  for (const auto& [op_type, reason] : operators) {
    Data row;
    row.set("name", code_cell(op_type));
    row.set("count", with_thousands_separators(reason.first));
    row.set("message", text_cell(reason.second));
    rows.push_back(row);
  }
  return rows;
}

List bad_rows(const Cases& cases, const RunContext& context) {
  List rows;
  for (const ModelResult& result : cases) {
    if (!is_bad(result)) continue;
    if (rows.size() == kMostBadCases) break;
    Data row;
    row.set("name", code_cell(result.name));
    row.set("note", text_cell(result.description));
    row.set("status", std::string(outcome_name(result)));
    row.set("max_diff", max_diff_cell(result, context));
    set_errors(result, context, row);
    row.set("message", text_cell(result.reason()));
    rows.push_back(row);
  }
  return rows;
}

// Operators against dtypes.
Data category_data(const std::string& category, const std::vector<const ModelResult*>& cases) {
  std::map<std::string, std::map<std::string, Score>> scores;
  std::map<std::string, std::vector<const ModelResult*>> by_operator;
  std::set<std::string> names;
  for (const ModelResult* it : cases) {
    scores[it->call->op_type][it->call->dtype].add(*it);
    by_operator[it->call->op_type].push_back(it);
    names.insert(it->call->dtype);
  }
  std::vector<std::string> dtypes(names.begin(), names.end());
  std::ranges::stable_sort(dtypes, {}, dtype_rank);
  List columns;
  for (const std::string& dtype : dtypes) {
    Data column;
    column.set("name", text_cell(dtype));
    column.set("plain", xml_text(dtype));
    columns.push_back(column);
  }
  List rows;
  Score all;
  for (const ModelResult* it : cases) all.add(*it);
  for (auto& [op_type, by_dtype] : scores) {
    List cells;
    Score total;
    for (const std::string& dtype : dtypes) {
      const Score& score = by_dtype[dtype];
      cells.push_back(Data(score.cell()));
      total.passed += score.passed;
      total.tried += score.tried;
      if (score.tried != 0) total.is_all_unsupported &= score.is_all_unsupported;
    }
    Data row;
    row.set("name", code_cell(op_type));
    row.set("plain", xml_text(op_type));
    row.set("cells", cells);
    row.set("total", total.cell());
    row.set("factor", worst_factor_text(by_operator[op_type]));
    rows.push_back(row);
  }
  Data data;
  std::string title = category;
  if (!title.empty())
    title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  data.set("name", escape_markdown(title));
  data.set("plain", xml_text(title));
  data.set("score", fmt::format("{} of {} passed", all.passed, all.tried));
  data.set("dtypes", columns);
  data.set("operators", rows);
  return data;
}

List category_list(const Cases& cases) {
  std::map<std::string, std::vector<const ModelResult*>> by_category;
  for (const ModelResult& it : cases) by_category[category_of(it)].push_back(&it);
  List list;
  for (const auto& [category, members] : by_category) {
    if (category != kSplitCategory) list.push_back(category_data(category, members));
  }
  return list;
}

// In the order in which they first occur.
std::vector<std::string> models_in(const Cases& cases) {
  std::vector<std::string> models;
  for (const ModelResult& it : cases) {
    for (const CaseOccurrence& occurrence : it.call->occurrences) {
      const bool is_known = std::ranges::find(models, occurrence.model) != models.end();
      if (!is_known) models.push_back(occurrence.model);
    }
  }
  return models;
}

// For Markdown, and for HTML.
Data named(const std::string& model) {
  Data data;
  data.set("name", text_cell(model));
  data.set("plain", xml_text(model));
  return data;
}

void set_calls(const Cases& cases, const RunContext& context, Data& page) {
  const std::vector<std::string> models = models_in(cases);
  List columns;
  for (const std::string& model : models) columns.push_back(named(model));
  List rows;
  for (const ModelResult& it : cases) {
    if (it.call->occurrences.empty() || rows.size() == kMostCalls) continue;
    List counts;
    for (const std::string& model : models) {
      const auto count = std::ranges::count(it.call->occurrences, model, &CaseOccurrence::model);
      counts.push_back(Data(count == 0 ? "" : with_thousands_separators(count)));
    }
    Data row;
    row.set("name", code_cell(it.name));
    row.set("plain", xml_text(it.name));
    row.set("note", text_cell(it.description));
    row.set("plain_note", xml_text(it.description));
    row.set("status", case_mark(it));
    row.set("max_diff", max_diff_cell(it, context));
    set_errors(it, context, row);
    row.set("counts", counts);
    rows.push_back(row);
  }
  page.set("has_calls", !rows.empty());
  page.set("models", columns);
  page.set("calls", rows);
}

// --- The same in HTML ---

List bad_html_rows(const Cases& cases, const RunContext& context) {
  List rows;
  for (const ModelResult& result : cases) {
    if (!is_bad(result)) continue;
    if (rows.size() == kMostBadCases) break;
    Data row;
    row.set("name", xml_text(result.name));
    row.set("status", std::string(outcome_name(result)));
    row.set("max_diff", max_diff_cell(result, context));
    row.set("message", xml_text(result.reason()));
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::string operators_section(const Cases& cases, const RunContext& context) {
  if (cases.empty()) return "";
  const List bad = bad_html_rows(cases, context);
  Data section;
  section.set("verdict", xml_text(cases_text(cases)));
  section.set("has_bad", !bad.empty());
  section.set("bad", bad);
  section.set("categories", category_list(cases));
  set_calls(cases, context, section);
  return render_exactly(templates::operators_section, section);
}

std::string render_operators(const RunRecord& run) {
  const Cases& cases = run.cases;
  const List bad = bad_rows(cases, run.context);
  const List unsupported = unsupported_rows(cases);
  const auto num_bad = static_cast<size_t>(std::ranges::count_if(cases, is_bad));
  Data page;
  page.set("verdict", fmt::format("{} **{}**", cases_mark(cases, run.context.requires_support),
                                  cases_text(cases)));
  page.set("coverage", cases_coverage_text(cases, run.coverage));
  page.set("judged", error_factor(run.context.settings)
                         ? "no farther from float64 than eager by the error factor, or where "
                           "float64 says nothing within its tolerance"
                     : run.context.settings.tolerance_wins
                         ? "within " + tolerance_rule_text(run.context.settings)
                         : "within the tolerance of torch.testing.assert_close for its dtype "
                           "where it has none of its own");
  page.set("statuses", status_list(cases));
  page.set("has_bad", !bad.empty());
  page.set("bad", bad);
  page.set("more_bad", num_bad > bad.size()
                           ? fmt::format("\n{} more are in `results.json`.\n", num_bad - bad.size())
                           : "");
  page.set("has_unsupported", !unsupported.empty());
  page.set("unsupported", unsupported);
  page.set("opinions", opinions_text(cases));
  page.set("categories", category_list(cases));
  set_calls(cases, run.context, page);
  set_environment(page, run.context, 1);
  page.set("command", code_block(reproduce_command(run.coverage, run.context), "sh"));
  return render(templates::operators, page);
}

}  // namespace torch_ir
