#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/report/page_text.h"
#include "torch_ir/base/tolerance.h"

namespace torch_ir {
namespace {

Cell verdict(const ValueDetail& value) {
  if (!value.problem.empty()) {
    if (value.steps) return Cell::text("❌ " + cause_text(value));
    const bool is_by_itself = value.own_error && !value.own_error->problem.empty();
    return Cell::text("❌ " + (is_by_itself ? value.own_error->problem
                                            : "outside the tolerance" + doubt_of(value)));
  }
  const bool is_equal = value.comparison.is_close && value.comparison.max_diff == 0;
  return is_equal ? "equal" : std::string(basis_text(value.basis));
}

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
  // State of the end follows the nodes that made it wrong.
  const auto place = [](const ValueDetail& value) { return value.index.value_or(INT64_MAX); };
  std::ranges::stable_sort(values.begin(), others.begin(), {}, place);
  std::set<std::string> known;
  std::erase_if(values,
                [&](const ValueDetail& value) { return !known.insert(value.value).second; });
  return values;
}

}  // namespace

Table values_table(const std::vector<ValueDetail>& values) {
  Table table(
      "rllrrrrrrrlrrrrrl",
      {"#", "Value", "Operator", "Output", "Elements", "Max abs. error", "Mean abs. error",
       "SNR (dB)", "Outside the tolerance", "Smallest passing tolerance", "Tolerance",
       "Own error (RMS)", "Max.", "Systematic (%)", "Off by one step", "By more", "Verdict"});
  for (const ValueDetail& it : values) {
    const TensorComparison& c = it.comparison;
    // Rounded values that a run was asked for are not compared with the model's.
    const bool is_compared = c.is_close || c.num_mismatched > 0 || !c.mismatch.empty();
    const auto of_model = [&](const Cell& cell) { return is_compared ? cell : ""; };
    const bool tolerance_decides = it.output && !std::isnan(it.tolerance.rtol);
    const double slope = it.own_error ? it.own_error->slope : 0;
    table.add({it.index ? std::to_string(*it.index) : "", Cell::code(it.value),
               Cell::code(it.op_type), it.output ? std::to_string(*it.output) : "", c.num_elements,
               of_model(short_number(c.max_diff)), of_model(short_number(c.mean_diff)),
               of_model(short_number(c.signal_to_noise)), of_model(c.num_mismatched),
               of_model(c.mismatch.empty() ? tolerance_text(c.smallest_passing_tolerance) : "none"),
               tolerance_decides ? tolerance_text(it.tolerance) : "", own_error_cell(it.own_error),
               own_error_cell(it.own_error, &OwnError::max_ratio),
               slope == 0 ? "" : fmt::format("{:+.2g}", 100 * slope),
               it.steps ? Cell(it.steps->num_off_by_one) : "",
               it.steps ? Cell(it.steps->num_off_by_more) : "", verdict(it)});
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
