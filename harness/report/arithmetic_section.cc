#include <fmt/format.h>

#include <algorithm>

#include "harness/report/page_text.h"

namespace torch_ir {
namespace {

std::string arithmetic_text(const Result& result, const std::string& dtype) {
  const ArithmeticReport& report = *result.arithmetic();
  if (!report.problem.empty()) {
    return "The graph could not be run in " + dtype + ": " + escape_markdown(report.problem) + ".";
  }
  const std::string lost = result.lost_text(code_span);
  const std::string text =
      lost.empty() ? dtype + " can hold this model."
                   : "**" + lost + "**. Nothing is expected of values that are made from it.";
  return text + " Eager operators ran the graph with weights, inputs and values rounded to " +
         dtype +
         (report.has_executor ? "; outputs pass if they are about as far from float64 as theirs."
                              : ".");
}

Table outputs_of(const Result& result) {
  Table table("llrrrrl", {"Trial", "Output", "Eager's SNR (dB)", "SNR (dB)",
                          "RMS error, relative to eager's", "Max. error", ""});
  for (const Trial& trial : result.trials) {
    const VerificationReport& report = trial.verification;
    if (!report.arithmetic) continue;
    for (const ArithmeticReport::Output& output : report.arithmetic->outputs) {
      const auto detail =
          std::ranges::find(report.output_details, output.name, &ValueDetail::value);
      const auto verdict = detail == report.output_details.end() ? std::nullopt : detail->own_error;
      table.add({text_cell(trial.name), code_cell(output.name),
                 short_number(output.signal_to_noise),
                 own_error_cell(verdict, &OwnError::signal_to_noise), own_error_cell(verdict),
                 own_error_cell(verdict, &OwnError::max_ratio),
                 output.is_lost          ? "not held, not judged"
                 : !output.doubt.empty() ? text_cell(output.doubt)
                 : verdict               ? text_cell(verdict->problem)
                                         : ""});
    }
  }
  return table;
}

Table losses_of(const ArithmeticReport& report) {
  Table table("rlllrr", {"#", "Value", "Operator", "Module", "SNR (dB)", "Lost (dB)"});
  for (const NodeLoss& loss : report.losses) {
    const ValueDetail& place = loss.place;
    table.add({std::to_string(place.index.value_or(0)), code_cell(place.value),
               code_cell(place.op_type), code_cell(place.module),
               fmt::format("{:.1f}", loss.signal_to_noise), fmt::format("{:.1f}", loss.loss)});
  }
  return table;
}

}  // namespace

std::string arithmetic_section(const Result& result) {
  const ArithmeticReport* report = result.arithmetic();
  if (report == nullptr) return "";
  const std::string dtype(arithmetic_name(report->arithmetic));
  return section("## In " + dtype,
                 {arithmetic_text(result, dtype), outputs_of(result).markdown(),
                  section("The values whose nodes lose most of the SNR of their inputs:",
                          {losses_of(*report).markdown()})});
}

}  // namespace torch_ir
