#include "torch_ir/visualize/colours.h"

#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <cmath>

#include "torch_ir/analysis/multiply_adds.h"
#include "torch_ir/ir/binding.h"

namespace torch_ir {
namespace {

// Okabe and Ito's colours, which colour-blind people tell apart; black is legible on all.
constexpr std::string_view kDarkText = "#000000";
constexpr std::string_view kLightText = "#ffffff";

enum Kind { kProducts, kPointwise, kNorms, kReductions, kViews, kOtherKind };

const std::vector<Colour>& kinds() {
  static const std::vector<Colour> colours = {
      {"convolutions, matrix products", "#e69f00", kDarkText},
      {"element by element", "#56b4e9", kDarkText},
      {"normalization", "#009e73", kDarkText},
      {"reductions", "#cc79a7", kDarkText},
      {"views and copies", "#f0e442", kDarkText},
      {"others", "#ffffff", kDarkText}};
  return colours;
}

// Viridis from light to dark, after white: its lightness alone gives the order.
struct Shade {
  std::string_view fill;
  std::string_view text;
};
constexpr Shade kShades[] = {{"#ffffff", kDarkText},  {"#fde725", kDarkText},
                             {"#7ad151", kDarkText},  {"#22a884", kDarkText},
                             {"#2a788e", kLightText}, {"#414487", kLightText},
                             {"#440154", kLightText}};
constexpr size_t kNumShades = std::size(kShades);

struct Limit {
  double value;
  const char* label;
};
constexpr Limit kErrorLimits[kNumShades - 1] = {{0, "0"},         {1e-7, "≤ 1e-7"},
                                                {1e-6, "≤ 1e-6"}, {1e-5, "≤ 1e-5"},
                                                {1e-4, "≤ 1e-4"}, {1e-2, "≤ 1e-2"}};
// Shares of the time of all nodes.
constexpr Limit kTimeLimits[kNumShades - 1] = {{.001, "≤ 0.1 %"}, {.003, "≤ 0.3 %"},
                                               {.01, "≤ 1 %"},    {.03, "≤ 3 %"},
                                               {.1, "≤ 10 %"},    {.3, "≤ 30 %"}};
constexpr const char* kMoreError = "> 1e-2";
constexpr const char* kMoreTime = "> 30 %";

size_t shade_of(double value, const Limit (&limits)[kNumShades - 1]) {
  const auto fits = [&](const Limit& limit) { return value <= limit.value; };
  return static_cast<size_t>(std::ranges::find_if(limits, fits) - std::begin(limits));
}

ColourScale shades(const char* name, const char* title, const Limit (&limits)[kNumShades - 1],
                   const char* more) {
  ColourScale scale{.name = name, .title = title, .colours = {}};
  for (size_t i = 0; i < kNumShades; ++i) {
    const char* label = i + 1 < kNumShades ? limits[i].label : more;
    scale.colours.push_back({label, kShades[i].fill, kShades[i].text});
  }
  return scale;
}

template <class Visit>
void for_each_node(const BoxNodes& nodes, const Visit& visit) {
  for (const size_t shift : nodes.shifts) {
    for (size_t i = nodes.begin; i < nodes.end; ++i) visit(i + shift);
  }
}

constexpr const char* kScaleNames[] = {"", "kind", "error", "time"};

}  // namespace

size_t kind_of(std::string_view op_type) {
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

Colouring::Colouring(const IR& ir, const std::vector<NodeFigures>& figures) : ir_(ir) {
  scales_.push_back({.name = "kind", .title = "Operators", .colours = kinds()});
  if (figures.empty()) return;
  figures_.resize(ir.nodes.size());
  bool has_errors = false;
  for (const NodeFigures& known : figures) {
    if (known.node >= figures_.size()) continue;
    figures_[known.node] = known;
    has_errors = has_errors || known.max_diff;
    seconds_ += known.seconds.value_or(0);
  }
  if (has_errors) {
    scales_.push_back(shades("error", "Max abs. error", kErrorLimits, kMoreError));
  }
  if (seconds_ > 0) scales_.push_back(shades("time", "Share of the time", kTimeLimits, kMoreTime));
}

const ColourScale* Colouring::find(ColourBy by) const {
  const std::string_view name = kScaleNames[static_cast<size_t>(by)];
  const auto scale = std::ranges::find(scales_, name, &ColourScale::name);
  return scale == scales_.end() ? nullptr : &*scale;
}

const NodeFigures* Colouring::figures_of(size_t node) const {
  return node < figures_.size() ? &figures_[node] : nullptr;
}

std::string Colouring::classes_of(const Box& box) const {
  std::string classes;
  const auto add = [&](const char* scale, size_t position) {
    classes += std::string(classes.empty() ? "" : " ") + scale + "-" + std::to_string(position);
  };
  if (box.kind == BoxKind::kOperator) add("kind", kind_of(ir_.nodes[box.nodes.begin].op_type));
  if (figures_.empty() || (box.kind != BoxKind::kOperator && !box.part)) return classes;
  std::optional<size_t> error;
  std::optional<double> seconds;
  for_each_node(box.nodes, [&](size_t node) {
    const NodeFigures* known = figures_of(node);
    if (known == nullptr) return;
    // NaN is the worst error.
    if (known->max_diff)
      error = std::max(error.value_or(0), shade_of(*known->max_diff, kErrorLimits));
    if (known->seconds) seconds = seconds.value_or(0) + *known->seconds;
  });
  if (error) add("error", *error);
  if (seconds && seconds_ > 0) add("time", shade_of(*seconds / seconds_, kTimeLimits));
  return classes;
}

}  // namespace torch_ir
