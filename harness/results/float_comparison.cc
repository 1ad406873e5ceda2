#include "harness/results/float_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"

namespace torch_ir {
namespace {

// NaN is less than all numbers.
double rank(double sqnr) {
  return std::isnan(sqnr) ? -std::numeric_limits<double>::infinity() : sqnr;
}

double relative_noise(double sqnr) { return std::pow(10, -rank(sqnr) / 10); }

// Zero if the value and its inputs are both NaN or infinite noise.
double added_noise(const ComparedValue& value) {
  const double added = relative_noise(value.sqnr) - relative_noise(value.input_sqnr);
  return std::isnan(added) ? 0 : added;
}

}  // namespace

std::vector<const ComparedValue*> worst_values(const FloatComparison& comparison, size_t count) {
  std::vector<const ComparedValue*> values;
  for (const ComparedValue& value : comparison.values) values.push_back(&value);
  std::ranges::stable_sort(values, {}, [](const ComparedValue* it) { return rank(it->sqnr); });
  values.resize(std::min(count, values.size()));
  return values;
}

const ComparedValue* noisiest_value(const FloatComparison& comparison) {
  const auto found = std::ranges::max_element(comparison.values, {}, added_noise);
  return found == comparison.values.end() ? nullptr : &*found;
}

std::string place_text(const ComparedValue& value) {
  const std::string name = "'" + printable(value.floating.name) + "'";
  return value.module.empty() ? name : name + " (" + printable(value.module) + ")";
}

std::string comparison_line(const FloatComparison& comparison) {
  std::string text = "against " + printable(comparison.file) + ": ";
  if (comparison.values.empty() && !comparison.error.empty()) {
    return text + headline(comparison.error);
  }
  text += counted(std::ssize(comparison.values), "tensor") + " compared";
  const auto worst = worst_values(comparison, 1);
  if (!worst.empty()) {
    text += fmt::format(", worst {:.1f} dB at {}", worst[0]->sqnr, place_text(*worst[0]));
  }
  if (comparison.num_unmatched > 0) {
    text += fmt::format(", {} without a counterpart", comparison.num_unmatched);
  }
  return comparison.error.empty() ? text : text + "; stopped: " + headline(comparison.error);
}

}  // namespace torch_ir
