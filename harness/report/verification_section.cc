#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/report/page_text.h"
#include "torch_ir/base/tolerance.h"

namespace torch_ir {
namespace {

constexpr int64_t kHistogramWidth = 40;

std::string trials_table(const Result& result) {
  Table table("llrrrr", {"Trial", "Result", "Max abs. error", "Mean abs. error",
                         "Outside the tolerance", "Smallest passing tolerance"});
  for (const Trial& trial : result.trials) {
    const VerificationReport& report = trial.verification;
    const bool is_close = report.passed_by == Basis::kTolerance;
    const std::string passed =
        "✅ passed" + (is_close ? "" : ", " + std::string(basis_text(report.passed_by)));
    int64_t num_mismatched = 0;
    for (const ValueDetail& detail : report.output_details) {
      num_mismatched += detail.comparison.num_mismatched;
    }
    std::vector<Cell> cells = {text_cell(trial.name), report.is_valid ? passed : "❌ failed"};
    if (!report.output_details.empty()) {
      cells.insert(cells.end(),
                   {short_number(report.max_diff), short_number(report.mean_diff), num_mismatched,
                    tolerance_text(report.smallest_passing_tolerance())});
    }
    table.add(cells);
  }
  std::string text = table.markdown();
  if (!result.varies.empty()) {
    text +=
        "\n\nResults differ from run to run on equal inputs: " + escape_markdown(result.varies) +
        ". The worst run is judged.";
  }
  for (const std::string& it : result.not_tried) {
    text += "\n\n" + escape_markdown(as_sentence("not tried with " + it));
  }
  return text;
}

// A single element still gets a mark. Elements that are NaN on one side only have a row of their
// own.
std::string histogram(const TensorComparison& comparison) {
  std::vector<std::pair<std::string, int64_t>> rows;
  for (size_t bin = 0; bin < kHistogramBins; ++bin) {
    rows.emplace_back(histogram_bin_name(bin), comparison.histogram[bin]);
  }
  const int64_t num_nan = comparison.num_nan.value_or(0);
  rows.back().second -= num_nan;
  rows.emplace_back("NaN", num_nan);
  int64_t most = 1;
  for (const auto& [name, count] : rows) most = std::max(most, count);
  std::string lines;
  for (const auto& [name, count] : rows) {
    if (count == 0) continue;
    const int64_t width = std::max<int64_t>(1, count * kHistogramWidth / most);
    lines += fmt::format("{:>8}  {:█<{}} {}\n", name, "", width, with_thousands_separators(count));
  }
  return code_block(lines, "text");
}

std::string figures_table(const TensorComparison& c) {
  Table table("lrlr", {"Figure", "Value", "Figure", "Value"});
  table.add(
      {"Max abs. error", short_number(c.max_diff), "Mean abs. error", short_number(c.mean_diff)});
  table.add({"RMSE", short_number(c.root_mean_square_diff), "Max relative error",
             short_number(c.max_relative_diff)});
  table.add({"SNR (dB)", short_number(c.signal_to_noise), "Cosine similarity",
             fmt::format("{:.9g}", c.cosine_similarity)});
  table.add({"Max ULP distance",
             c.max_ulp_diff ? fmt::format("{}", *c.max_ulp_diff) : std::string("—"),
             "Outside the tolerance", share_text(c.num_mismatched, c.num_elements)});
  return table.markdown();
}

// First those that cannot be compared with the expected ones.
std::vector<std::string> differences(const Result& result, const VerificationReport& report) {
  std::vector<std::string> sections;
  for (const ValueDetail& detail : report.output_details) {
    const std::string& mismatch = detail.comparison.mismatch;
    if (mismatch.empty()) continue;
    sections.push_back(code_span(detail.value) + ": " + escape_markdown(mismatch) + ".");
  }
  for (const ValueDetail& detail : report.output_details) {
    const TensorComparison& c = detail.comparison;
    if (!c.mismatch.empty() || c.worst_actual.empty()) continue;
    sections.push_back(
        section("#### " + code_span(detail.value),
                {fmt::format("Worst element: at `[{}]` the graph gives {}, {} {}.",
                             fmt::join(c.worst_index, ", "), code_span(c.worst_actual),
                             reference_of(result).worst, code_span(c.worst_expected)),
                 figures_table(c), section("Elements by absolute error:", {histogram(c)})}));
  }
  return sections;
}

std::string tolerance_sentence(const VerificationReport& report) {
  const ToleranceRule& rule = report.tolerance;
  if (const std::optional<Threshold>& agreed = report.criterion.agreed) {
    std::string limits;
    if (agreed->signal_to_noise) limits += fmt::format(", SNR ≥ {} dB", *agreed->signal_to_noise);
    if (agreed->cosine_similarity)
      limits += fmt::format(", cosine ≥ {}", *agreed->cosine_similarity);
    if (limits.empty()) limits = fmt::format(", rtol {} atol {}", rule.fixed.rtol, rule.fixed.atol);
    return "The line " + code_span(agreed->place) +
           " decides, and nothing else: " + limits.substr(2) + ".";
  }
  std::string text =
      rule.by_dtype
          ? "The tolerance depends on the output's dtype, as in `torch.testing.assert_close`"
          : fmt::format("The tolerance is rtol = {} and atol = {}", rule.fixed.rtol,
                        rule.fixed.atol);
  if (report.has_exact_outputs()) text += "; integers and booleans are compared exactly";
  if (!rule.outputs.empty()) text += ", except for outputs registered with their own";
  text += ".";
  if (report.criterion.reference == ReferenceKind::kAuto) {
    text += fmt::format(
        " An output outside the tolerance still passes if its error against the graph in float64 "
        "is at most {} times that of eager operators: its own error.",
        kErrorFactor);
  }
  return text;
}

std::string criterion_section(const VerificationReport& report) {
  if (report.criterion.reference != ReferenceKind::kFloat64) {
    return "### Tolerance\n\nAn element passes if `|actual - expected| <= atol + rtol * "
           "|expected|`. " +
           tolerance_sentence(report);
  }
  return fmt::format(
      "### Criterion\n\nAn output passes if its error against the graph in float64 is at most {} "
      "times that of eager operators. The tolerance decides only where float64 says nothing.",
      kErrorFactor);
}

}  // namespace

std::string verification_section(const Result& result) {
  if (result.worst_trial() == nullptr) return "";
  const VerificationReport& report = result.worst_trial()->verification;
  std::vector<std::string> blocks = {trials_table(result), reference_of(result).explanation};
  if (report.output_details.empty()) {
    blocks.push_back(escape_markdown(report.error_message));
    return section("## Numerical verification", blocks);
  }
  for (std::string& output : differences(result, report)) blocks.push_back(std::move(output));
  const auto sentence = [](const std::string& text) { return escape_markdown(as_sentence(text)); };
  blocks.push_back(sentence(result.state_not_compared()));
  if (!report.reference_note.empty()) {
    blocks.push_back("**Note**: " + sentence(report.reference_note));
  }
  if (!report.graph_note.empty()) {
    blocks.push_back(
        "Eager operators could not run the graph, so this page does not show that it "
        "matches the model: " +
        sentence(report.graph_note));
  }
  blocks.push_back(criterion_section(report));
  return section("## Numerical verification", blocks);
}

}  // namespace torch_ir
