#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "harness/report/markup.h"
#include "harness/report/page_text.h"
#include "torch_ir/analysis/summary.h"

namespace torch_ir {
namespace {

using Data = kainjow::mustache::data;
using List = kainjow::mustache::list;

constexpr int64_t kHistogramWidth = 40;

void set_comparison(Data& row, const TensorComparison& c, const RunContext& context) {
  row.set("elements", with_thousands_separators(c.num_elements));
  row.set("max_diff", difference_text(c.max_diff, context));
  row.set("mean_diff", difference_text(c.mean_diff, context));
  row.set("mismatched", count_text(c.num_mismatched, c.max_diff, context));
  row.set("smallest", tolerance_figure(c.smallest_passing_tolerance, context));
}

// The figures of all outputs together.
TensorComparison total(const VerificationReport& report) {
  TensorComparison all;
  all.max_diff = report.max_diff;
  all.mean_diff = report.mean_diff;
  all.smallest_passing_tolerance = report.smallest_passing_tolerance();
  for (const OutputDetail& detail : report.output_details) {
    all.num_elements += detail.comparison.num_elements;
    all.num_mismatched += detail.comparison.num_mismatched;
  }
  return all;
}

List trial_rows(const ModelResult& result, const RunContext& context) {
  List rows;
  for (const Trial& trial : result.trials) {
    const VerificationReport& report = trial.verification;
    const bool is_compared = !report.output_details.empty();
    Data row;
    row.set("name", text_cell(trial.name));
    row.set("result", report.is_valid ? "✅ passed" : "❌ failed");
    if (is_compared) {
      set_comparison(row, total(report), context);
    } else {
      // Otherwise those of the section around the row would be shown.
      for (const char* figure : {"max_diff", "mean_diff", "mismatched", "smallest"}) {
        row.set(figure, "");
      }
    }
    rows.push_back(row);
  }
  return rows;
}

List output_rows(const VerificationReport& report, const RunContext& context) {
  List rows;
  for (const OutputDetail& detail : report.output_details) {
    Data row;
    row.set("index", std::to_string(detail.index));
    row.set("name", code_cell(detail.name));
    set_comparison(row, detail.comparison, context);
    rows.push_back(row);
  }
  return rows;
}

List mismatches(const VerificationReport& report) {
  List lines;
  for (const OutputDetail& detail : report.output_details) {
    if (detail.comparison.mismatch.empty()) continue;
    lines.push_back(Data(fmt::format("{}: {}.", code_span(detail.name),
                                     escape_markdown(detail.comparison.mismatch))));
  }
  return lines;
}

// Rows of a histogram: elements that are NaN on one side have one of their own.
std::vector<std::pair<std::string, int64_t>> histogram_rows(const TensorComparison& comparison) {
  std::vector<std::pair<std::string, int64_t>> rows;
  for (size_t bin = 0; bin < kHistogramBins; ++bin) {
    rows.emplace_back(histogram_bin_name(bin), comparison.histogram[bin]);
  }
  const int64_t num_nan = comparison.num_nan.value_or(0);
  rows.back().second -= num_nan;
  rows.emplace_back("NaN", num_nan);
  return rows;
}

// Bars, and at least a mark for one element.
std::string histogram(const TensorComparison& comparison) {
  const auto rows = histogram_rows(comparison);
  int64_t most = 1;
  for (const auto& [name, count] : rows) most = std::max(most, count);
  std::string lines;
  for (const auto& [name, count] : rows) {
    if (count == 0) continue;
    const int64_t width = std::max<int64_t>(1, count * kHistogramWidth / most);
    std::string bar;
    for (int64_t i = 0; i < width; ++i) bar += "█";
    lines += fmt::format("{:>8}  {} {}\n", name, bar, with_thousands_separators(count));
  }
  return code_block(lines, "text");
}

List figure_rows(const TensorComparison& c) {
  const std::vector<std::pair<std::string, std::string>> figures = {
      {"Maximum difference", short_number(c.max_diff)},
      {"Mean difference", short_number(c.mean_diff)},
      {"Root mean square", short_number(c.root_mean_square_diff)},
      {"Maximum relative difference", short_number(c.max_relative_diff)},
      {"Signal to noise", short_number(c.signal_to_noise) + " dB"},
      {"Cosine similarity", fmt::format("{:.9g}", c.cosine_similarity)},
      {"Greatest distance in ULP",
       c.max_ulp_diff ? fmt::format("{}", *c.max_ulp_diff) : std::string("—")},
      {"Outside the tolerance", share_text(c.num_mismatched, c.num_elements)},
  };
  List rows;
  for (size_t i = 0; i < figures.size(); i += 2) {
    Data row;
    row.set("left", figures[i].first);
    row.set("left_value", figures[i].second);
    row.set("right", figures[i + 1].first);
    row.set("right_value", figures[i + 1].second);
    rows.push_back(row);
  }
  return rows;
}

// Of outputs that differ. They may differ between machines, so portable pages have none.
List differences(const ModelResult& result, const VerificationReport& report,
                 const RunContext& context) {
  List sections;
  if (context.portable) return sections;
  for (const OutputDetail& detail : report.output_details) {
    const TensorComparison& c = detail.comparison;
    if (!c.mismatch.empty() || c.worst_actual.empty()) continue;
    Data section;
    section.set("name", code_span(detail.name));
    section.set("worst", fmt::format("Worst element: at `[{}]` the graph gives {}, {} {}.",
                                     fmt::join(c.worst_index, ", "), code_span(c.worst_actual),
                                     reference_of(result).worst, code_span(c.worst_expected)));
    section.set("figures", figure_rows(c));
    section.set("histogram", histogram(c));
    sections.push_back(section);
  }
  return sections;
}

std::string tolerance_sentence(const VerificationReport& report) {
  const ToleranceRule& rule = report.tolerance;
  std::string text =
      rule.by_dtype
          ? "The tolerance is that of the output's dtype, as `torch.testing.assert_close` has it"
          : fmt::format("The tolerance is rtol = {} and atol = {}", number_text(rule.fixed.rtol),
                        number_text(rule.fixed.atol));
  if (report.has_exact_outputs()) text += "; integers and booleans are compared exactly";
  if (!rule.outputs.empty()) text += ", but for outputs that are registered with their own";
  return text + ".";
}

List opinion_rows(const ModelResult& result, const RunContext& context) {
  List rows;
  for (const Trial& trial : result.trials) {
    for (const OutputDetail& detail : trial.verification.output_details) {
      if (!detail.second_opinion) continue;
      Data row;
      row.set("trial", text_cell(trial.name));
      row.set("output", code_cell(detail.name));
      set_opinion(row, *detail.second_opinion, detail.comparison.max_diff, context);
      rows.push_back(row);
    }
  }
  return rows;
}

List tolerance_rows(const VerificationReport& report) {
  const ToleranceRule& rule = report.tolerance;
  List rows;
  for (const OutputDetail& detail : report.output_details) {
    Data row;
    row.set("name", code_cell(detail.name));
    row.set("dtype", code_cell(detail.comparison.dtype));
    row.set("rtol", number_text(detail.tolerance.rtol));
    row.set("atol", number_text(detail.tolerance.atol));
    const bool is_own = rule.outputs.contains(static_cast<size_t>(detail.index));
    row.set("source", is_own                             ? "registered for this output"
                      : rule.by_dtype                    ? "by dtype"
                      : report.is_exact_by_dtype(detail) ? "exact"
                                                         : "for all outputs");
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

Data verification_section(const ModelResult& result, const RunContext& context) {
  const Trial& worst = *result.worst_trial();
  const VerificationReport& report = worst.verification;
  Data data;
  data.set("trials", trial_rows(result, context));
  data.set("explanation", reference_of(result).explanation);
  // Which trial is the worst may differ between machines.
  if (result.trials.size() > 1 && !context.portable) {
    data.set("worst_trial", escape_markdown(worst.name));
  }
  if (!report.error_message.empty() && report.output_details.empty()) {
    data.set("error", escape_markdown(report.error_message));
  }
  data.set("has_outputs", !report.output_details.empty());
  set_comparison(data, total(report), context);
  data.set("outputs", output_rows(report, context));
  data.set("several_outputs", report.output_details.size() > 1);
  data.set("mismatches", mismatches(report));
  data.set("differences", differences(result, report, context));
  const List opinions = opinion_rows(result, context);
  data.set("has_opinions", !opinions.empty());
  data.set("opinions", opinions);
  if (report.error_factor) data.set("error_factor", number_text(*report.error_factor));
  data.set("by_tolerance", !report.error_factor.has_value());
  data.set("rule", tolerance_sentence(report));
  data.set("tolerances", tolerance_rows(report));
  return data;
}

}  // namespace torch_ir
