#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/report/markup.h"
#include "harness/report/page_text.h"
#include "torch_ir/base/tolerance.h"

namespace torch_ir {
namespace {

struct Column {
  const char* head;
  char side;
  Cell (*cell)(const ValueDetail& value);
};

// Rounded values that a run was asked for are not compared with the model's.
bool is_compared(const ValueDetail& value) {
  const TensorComparison& c = value.comparison;
  return c.is_close || c.num_mismatched > 0 || !c.mismatch.empty();
}

Cell of_model(const ValueDetail& value, double TensorComparison::* member) {
  return is_compared(value) ? short_number(value.comparison.*member) : "";
}

Cell steps(const ValueDetail& value, int64_t StepCounts::* member) {
  return value.steps ? Cell((*value.steps).*member) : "";
}

Cell verdict(const ValueDetail& value) {
  if (!value.problem.empty()) {
    if (value.steps) return Cell::text("❌ " + cause_text(value));
    const bool is_by_itself = value.own_error && !value.own_error->problem.empty();
    return Cell::text("❌ " + (is_by_itself ? value.own_error->problem : "outside the tolerance"));
  }
  const bool is_equal = value.comparison.is_close && value.comparison.max_diff == 0;
  return is_equal ? "equal" : std::string(basis_text(value.basis));
}

constexpr Column kColumns[] = {
    {"#", 'r',
     [](const ValueDetail& it) -> Cell { return it.index ? std::to_string(*it.index) : ""; }},
    {"Value", 'l', [](const ValueDetail& it) -> Cell { return Cell::code(it.value); }},
    {"Operator", 'l', [](const ValueDetail& it) -> Cell { return Cell::code(it.op_type); }},
    {"Output", 'r',
     [](const ValueDetail& it) -> Cell { return it.output ? std::to_string(*it.output) : ""; }},
    {"Elements", 'r', [](const ValueDetail& it) -> Cell { return it.comparison.num_elements; }},
    {"Max abs. error", 'r',
     [](const ValueDetail& it) { return of_model(it, &TensorComparison::max_diff); }},
    {"Mean abs. error", 'r',
     [](const ValueDetail& it) { return of_model(it, &TensorComparison::mean_diff); }},
    {"SNR (dB)", 'r',
     [](const ValueDetail& it) { return of_model(it, &TensorComparison::signal_to_noise); }},
    {"Outside the tolerance", 'r',
     [](const ValueDetail& it) -> Cell {
       return is_compared(it) ? Cell(it.comparison.num_mismatched) : "";
     }},
    {"Smallest passing tolerance", 'r',
     [](const ValueDetail& it) -> Cell {
       if (!is_compared(it)) return "";
       return it.comparison.mismatch.empty()
                  ? tolerance_text(it.comparison.smallest_passing_tolerance)
                  : "none";
     }},
    {"Tolerance", 'l',
     [](const ValueDetail& it) -> Cell {
       const bool decides = it.output && !std::isnan(it.tolerance.rtol);
       return decides ? tolerance_text(it.tolerance) : "";
     }},
    {"Own error (RMS)", 'r',
     [](const ValueDetail& it) -> Cell { return own_error_cell(it.own_error); }},
    {"Max.", 'r',
     [](const ValueDetail& it) -> Cell {
       return own_error_cell(it.own_error, &OwnError::max_ratio);
     }},
    {"Systematic (%)", 'r',
     [](const ValueDetail& it) -> Cell {
       const double slope = it.own_error ? it.own_error->slope : 0;
       return slope == 0 ? "" : fmt::format("{:+.2g}", 100 * slope);
     }},
    {"Off by one step", 'r',
     [](const ValueDetail& it) -> Cell { return steps(it, &StepCounts::num_off_by_one); }},
    {"By more", 'r',
     [](const ValueDetail& it) -> Cell { return steps(it, &StepCounts::num_off_by_more); }},
    {"Verdict", 'l', verdict},
};

constexpr size_t kMostValues = 50;

// Each value once: the wrong ones in the order of the graph, then outputs, then others as given.
std::vector<ValueDetail> in_order(const Result& result) {
  std::vector<ValueDetail> values;
  if (const Trial* worst = result.worst_trial()) {
    values = worst->verification.output_details;
    const std::vector<ValueDetail>& rounded = worst->verification.rounded;
    values.insert(values.end(), rounded.begin(), rounded.end());
    const Criterion& criterion = worst->verification.criterion;
    if (criterion.reference == ReferenceKind::kFloat64 || criterion.agreed) {
      // Another rule decides.
      for (ValueDetail& value : values) value.tolerance.rtol = std::nan("");
    }
  }
  if (result.nodes) {
    if (result.nodes->first_divergence) values.push_back(result.nodes->first_divergence->node);
    values.insert(values.end(), result.nodes->worst.begin(), result.nodes->worst.end());
  }
  const auto is_wrong = [](const ValueDetail& value) { return !value.problem.empty(); };
  const auto others = std::ranges::stable_partition(values, is_wrong);
  std::ranges::stable_sort(values.begin(), others.begin(), {}, &ValueDetail::index);
  std::set<std::string> known;
  std::erase_if(values,
                [&](const ValueDetail& value) { return !known.insert(value.value).second; });
  return values;
}

}  // namespace

Table values_table(const std::vector<ValueDetail>& values) {
  std::string sides;
  std::vector<Cell> heads;
  for (const Column& column : kColumns) {
    sides += column.side;
    heads.emplace_back(column.head);
  }
  Table table(sides, heads);
  for (const ValueDetail& value : values) {
    std::vector<Cell> cells;
    for (const Column& column : kColumns) cells.push_back(column.cell(value));
    table.add(std::move(cells));
  }
  return table.without_empty_columns();
}

Table values_of_run(const Result& result) {
  std::vector<ValueDetail> values = in_order(result);
  values.resize(std::min(values.size(), kMostValues));
  return values_table(values);
}

std::string values_section(const Result& result) {
  std::string text = "Values that are wrong come first, then outputs, then the largest errors";
  if (result.trials.size() > 1) {
    text += ", in the worst trial, " + escape_markdown(result.worst_trial()->name);
  }
  const size_t num_values = in_order(result).size();
  return section("## Values\n\n" + text + ".",
                 {values_of_run(result).markdown(),
                  num_values > kMostValues
                      ? fmt::format("`results.json` has {} more.", num_values - kMostValues)
                      : ""});
}

}  // namespace torch_ir
