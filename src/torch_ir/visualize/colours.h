// ColourScale: the colours of boxes in pictures, by kind of operator, error or time. Each scale is
// legible without telling hues apart: kinds have labels in the boxes, figures go from light to
// dark.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/ir/program.h"
#include "torch_ir/visualize/sketch.h"
#include "torch_ir/visualize/svg.h"

namespace torch_ir {

struct Colour {
  // Its meaning in the legend.
  std::string label;
  std::string_view fill;
  std::string_view text;
};

struct ColourScale {
  std::string_view title;
  std::vector<Colour> colours;
  // The position of the colour of a box; empty for none.
  std::function<std::optional<size_t>(const Box&)> find;
};

// By the sum of the times of the nodes of a box, if any is known; else by their worst error, if any
// is not 0; else by kind. Both arguments must outlive the scale.
ColourScale colour_scale(const Graph& graph, const std::vector<std::optional<double>>& max_diffs);

// The name of the colour of an operator in the scale of kinds: "pointwise".
std::string_view kind_name(std::string_view op_type);

}  // namespace torch_ir
