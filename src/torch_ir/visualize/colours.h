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
  // The class of a box is this and the position of its colour: "kind-0".
  std::string_view name;
  std::string_view title;
  std::vector<Colour> colours;
  // The position of the colour of a box; empty for none.
  std::function<std::optional<size_t>(const Box&)> find;
};

// By kind; by the worst error of the nodes of a box, if any is not 0; by the sum of their times, if
// any is known. The last one says most. Both arguments must outlive the scales.
std::vector<ColourScale> colour_scales(const Graph& graph, const std::vector<NodeFigures>& figures);

}  // namespace torch_ir
