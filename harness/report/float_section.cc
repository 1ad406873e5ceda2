#include <fmt/format.h>

#include "harness/report/page_text.h"

namespace torch_ir {
namespace {

constexpr size_t kMaxRows = 10;
constexpr size_t kMaxNames = 10;

constexpr const char* kSqnrExplanation =
    "The SQNR (signal-to-quantisation-noise ratio) is 10 log10(Σ f² / Σ (f − q)²), where q is the "
    "tensor that the next layer sees, after dequantising if it is quantised. Noise accumulates "
    "from layer to layer; a layer loses accuracy if its SQNR is below that of its inputs. "
    "Saturated elements lie at an end of the quantised range; an end that stands for 0 does not "
    "count.\n\nNodes are matched as by `torch-ir diff`: in order, by operator, weights and module. "
    "A value is compared with what the counterpart of its reader reads, so a layer that became "
    "other operators is compared by its result. Integers are left out, as are views and dropouts "
    "that are not quantised again.";

std::string decibels(double sqnr) { return fmt::format("{:.1f}", sqnr); }

std::string range_text(const TensorStatistics& statistics) {
  return short_number(statistics.min) + " … " + short_number(statistics.max);
}

std::string compared_text(const FloatComparison& comparison) {
  std::string text =
      counted(std::ssize(comparison.values), "tensor") +
      " compared with those of the float model " + code_span(comparison.file) +
      " on the inputs of the first trial. Eager operators ran both graphs node by node.";
  if (const ComparedValue* value = noisiest_value(comparison)) {
    const std::string inputs = value->input_sqnr == std::numeric_limits<double>::infinity()
                                   ? "has exact inputs"
                                   : "has inputs of " + decibels(value->input_sqnr) + " dB";
    text += fmt::format(" The most noise is added at {}, which {} and has an SQNR of {} dB.",
                        escape_markdown(place_text(*value)), inputs, decibels(value->sqnr));
  }
  if (comparison.error.empty()) return text;
  return text + " " +
         escape_markdown(as_sentence("The comparison ended early: " + comparison.error));
}

Table worst_table(const FloatComparison& comparison) {
  Table table("lllrrrrrl", {"Value", "Module", "Operator", "SQNR (dB)", "SQNR of inputs (dB)",
                            "Float range", "Quantised range", "Saturated", "Compared with"});
  for (const ComparedValue* value : worst_values(comparison, kMaxRows)) {
    table.add(
        {code_cell(value->floating.name), code_cell(value->module),
         value->op_type.empty() ? "input" : code_cell(value->op_type), decibels(value->sqnr),
         decibels(value->input_sqnr), range_text(value->floating), range_text(value->quantized),
         value->num_saturated ? share_text(*value->num_saturated, value->quantized.num_elements)
                              : "–",
         code_cell(value->quantized.name)});
  }
  return table;
}

// Names values of the float model that were not compared.
std::string left_out_text(const FloatComparison& comparison) {
  std::string text;
  if (comparison.num_folded > 0) {
    text = counted(comparison.num_folded, "node") + " of the float model " +
           (comparison.num_folded == 1 ? "is" : "are") +
           " computed together with a later one, such as a batch norm; only the results of these "
           "are compared.";
  }
  if (comparison.num_unmatched == 0) return text;
  std::vector<std::string> names;
  for (const std::string& name : comparison.unmatched) names.push_back(code_cell(name));
  return fmt::format("{}{}{} of the float model {} not found in the quantised one: {}.", text,
                     text.empty() ? "" : " ", counted(comparison.num_unmatched, "value"),
                     comparison.num_unmatched == 1 ? "was" : "were",
                     listed(names, kMaxNames, static_cast<size_t>(comparison.num_unmatched)));
}

}  // namespace

std::string float_section(const Result& result) {
  if (!result.against) return "";
  const Table table = worst_table(*result.against);
  return section("## Comparison with the float model",
                 {compared_text(*result.against),
                  section(fmt::format("The {} with the lowest SQNR, lowest first:",
                                      counted(static_cast<int64_t>(table.num_rows()), "tensor")),
                          {table.markdown(), table.num_rows() == 0 ? "" : kSqnrExplanation}),
                  left_out_text(*result.against)});
}

}  // namespace torch_ir
