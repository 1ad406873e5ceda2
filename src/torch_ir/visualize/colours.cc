#include "torch_ir/visualize/colours.h"

#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <ranges>
#include <string>

#include "torch_ir/analysis/multiply_adds.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/operators/operator_table.h"

namespace torch_ir {
namespace {

constexpr std::string_view kDarkText = "#000000";
constexpr std::string_view kLightText = "#ffffff";
enum Kind : size_t { kProducts, kPointwise, kNorms, kReductions, kViews, kOtherKind };

// Okabe and Ito's colours, which colour-blind people tell apart; black is legible on all.
const Colour kKinds[] = {{"convolution, matmul", "#e69f00", kDarkText},
                         {"pointwise", "#56b4e9", kDarkText},
                         {"normalization", "#009e73", kDarkText},
                         {"reduction", "#cc79a7", kDarkText},
                         {"view", "#f0e442", kDarkText},
                         {"other", "#ffffff", kDarkText}};

// After white, viridis from light to dark: its lightness alone gives the order.
constexpr std::array<std::string_view, 7> kShades = {"#ffffff", "#fde725", "#7ad151", "#22a884",
                                                     "#2a788e", "#414487", "#440154"};
constexpr size_t kFirstDarkShade = 4;

// The max abs. error has the first shade whose limit it does not exceed, and the last one beyond
// all limits or as NaN.
constexpr std::array<double, kShades.size() - 1> kLimits = {0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-2};
constexpr std::array<std::string_view, kShades.size()> kLabels = {
    "0", "≤ 1e-7", "≤ 1e-6", "≤ 1e-5", "≤ 1e-4", "≤ 1e-2", "> 1e-2"};

Kind kind_of(std::string_view op_type) {
  const MultiplyAdds formula = find_formula(op_type);
  if (formula != nullptr && formula != no_multiply_adds) return kProducts;
  const auto op = find_operator(op_type);
  if (!op) return kOtherKind;
  if (op->hasTag(at::Tag::pointwise)) return kPointwise;
  if (facts_of(op_type).is_reduction) return kReductions;
  if (op->operator_name().name.find("norm") != std::string::npos) return kNorms;
  return is_view(op->schema()) ? kViews : kOtherKind;
}

template <class Nodes>
std::optional<double> worst(const Nodes& nodes,
                            const std::vector<std::optional<double>>& max_diffs) {
  std::optional<double> all;
  for (const size_t node : nodes) {
    const std::optional<double>& one = max_diffs[node];
    if (one && (!all || *one > *all || std::isnan(*one))) all = one;
  }
  return all;
}

}  // namespace

ColourScale colour_scale(const Graph& graph, const std::vector<std::optional<double>>& max_diffs) {
  if (worst(std::views::iota(size_t{0}, max_diffs.size()), max_diffs).value_or(0) != 0) {
    ColourScale scale{"Max abs. error", {}, nullptr};
    for (size_t i = 0; i < kShades.size(); ++i) {
      scale.colours.push_back(
          {std::string(kLabels[i]), kShades[i], i < kFirstDarkShade ? kDarkText : kLightText});
    }
    scale.find = [&max_diffs](const Box& box) -> std::optional<size_t> {
      const auto max_diff = worst(box.nodes, max_diffs);
      if (!max_diff) return std::nullopt;
      const auto fits = [&](double limit) { return *max_diff <= limit; };
      return static_cast<size_t>(std::ranges::find_if(kLimits, fits) - kLimits.begin());
    };
    return scale;
  }
  return {"Operators",
          {std::begin(kKinds), std::end(kKinds)},
          [&graph](const Box& box) -> std::optional<size_t> {
            if (box.kind != BoxKind::kOperator) return std::nullopt;
            return kind_of(graph.nodes[box.nodes[0]].target);
          }};
}

std::string_view kind_name(std::string_view op_type) { return kKinds[kind_of(op_type)].label; }

}  // namespace torch_ir
