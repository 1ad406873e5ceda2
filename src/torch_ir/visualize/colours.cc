#include "torch_ir/visualize/colours.h"

#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <optional>

#include "torch_ir/analysis/multiply_adds.h"
#include "torch_ir/ir/binding.h"

namespace torch_ir {
namespace {

constexpr std::string_view kDarkText = "#000000";
constexpr std::string_view kLightText = "#ffffff";

enum Kind { kProducts, kPointwise, kNorms, kReductions, kViews, kOtherKind };

// Okabe and Ito's colours, which colour-blind people tell apart; black is legible on all.
constexpr Colour kKinds[] = {{"convolutions, matrix products", "#e69f00", kDarkText},
                             {"element by element", "#56b4e9", kDarkText},
                             {"normalization", "#009e73", kDarkText},
                             {"reductions", "#cc79a7", kDarkText},
                             {"views and copies", "#f0e442", kDarkText},
                             {"others", "#ffffff", kDarkText}};

// After white, viridis from light to dark: its lightness alone gives the order. A figure has the
// first colour whose limit it does not exceed, and the last one beyond all limits or as NaN.
constexpr size_t kNumLimits = 6;
constexpr Colour kErrors[] = {{"0", "#ffffff", kDarkText},       {"≤ 1e-7", "#fde725", kDarkText},
                              {"≤ 1e-6", "#7ad151", kDarkText},  {"≤ 1e-5", "#22a884", kDarkText},
                              {"≤ 1e-4", "#2a788e", kLightText}, {"≤ 1e-2", "#414487", kLightText},
                              {"> 1e-2", "#440154", kLightText}};
constexpr double kErrorLimits[kNumLimits] = {0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-2};
// Shares of the time of all nodes.
constexpr Colour kTimes[] = {{"≤ 0.1 %", "#ffffff", kDarkText}, {"≤ 0.3 %", "#fde725", kDarkText},
                             {"≤ 1 %", "#7ad151", kDarkText},   {"≤ 3 %", "#22a884", kDarkText},
                             {"≤ 10 %", "#2a788e", kLightText}, {"≤ 30 %", "#414487", kLightText},
                             {"> 30 %", "#440154", kLightText}};
constexpr double kTimeLimits[kNumLimits] = {.001, .003, .01, .03, .1, .3};

size_t shade_of(double value, const double (&limits)[kNumLimits]) {
  const auto fits = [&](double limit) { return value <= limit; };
  return static_cast<size_t>(std::ranges::find_if(limits, fits) - std::begin(limits));
}

Kind kind_of(std::string_view op_type) {
  const MultiplyAdds formula = find_formula(op_type);
  if (formula != nullptr && formula != no_multiply_adds) return kProducts;
  const auto op = find_operator(op_type);
  if (!op) return kOtherKind;
  if (op->hasTag(at::Tag::pointwise)) return kPointwise;
  if (op->hasTag(at::Tag::reduction)) return kReductions;
  if (op->operator_name().name.find("norm") != std::string::npos) return kNorms;
  const auto is_alias = [](const c10::Argument& result) {
    return result.alias_info() != nullptr && !result.alias_info()->isWrite();
  };
  const auto& returns = op->schema().returns();
  const bool is_view = !returns.empty() && std::ranges::all_of(returns, is_alias);
  return is_view ? kViews : kOtherKind;
}

}  // namespace

Colouring::Colouring(const IR& ir, const std::vector<NodeFigures>& figures) : ir_(ir) {
  bool has_errors = false;
  if (!figures.empty()) figures_.resize(ir.nodes.size());
  for (const NodeFigures& known : figures) {
    if (known.node >= figures_.size()) continue;
    figures_[known.node] = known;
    has_errors = has_errors || known.max_diff;
    seconds_ += known.seconds.value_or(0);
  }
  const auto add = [&](ColourBy by, const char* name, const char* title, const auto& colours) {
    scales_.push_back({by, name, title, {std::begin(colours), std::end(colours)}});
  };
  add(ColourBy::kKind, "kind", "Operators", kKinds);
  if (has_errors) add(ColourBy::kError, "error", "Max abs. error", kErrors);
  if (seconds_ > 0) add(ColourBy::kTime, "time", "Share of the time", kTimes);
}

const ColourScale* Colouring::find(ColourBy by) const {
  const auto scale = std::ranges::find(scales_, by, &ColourScale::by);
  return scale == scales_.end() ? nullptr : &*scale;
}

std::string Colouring::classes_of(const Box& box) const {
  std::string classes;
  const auto add = [&](const char* scale, size_t position) {
    classes += std::string(classes.empty() ? "" : " ") + scale + "-" + std::to_string(position);
  };
  if (box.kind == BoxKind::kOperator) add("kind", kind_of(ir_.nodes[box.nodes[0]].op_type));
  std::optional<size_t> error;
  std::optional<double> seconds;
  for (const size_t node : box.nodes) {
    const NodeFigures* known = figures_of(node);
    if (known == nullptr) continue;
    if (known->max_diff) {
      error = std::max(error.value_or(0), shade_of(*known->max_diff, kErrorLimits));
    }
    if (known->seconds) seconds = seconds.value_or(0) + *known->seconds;
  }
  if (error) add("error", *error);
  if (seconds && seconds_ > 0) add("time", shade_of(*seconds / seconds_, kTimeLimits));
  return classes;
}

}  // namespace torch_ir
