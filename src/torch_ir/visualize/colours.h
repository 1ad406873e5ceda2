// Colouring: the colours of boxes in pictures, by kind of operator, error or time. Each scale is
// legible without telling hues apart: kinds have labels in the boxes, figures go from light to
// dark.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/visualize/sketch.h"
#include "torch_ir/visualize/svg.h"

namespace torch_ir {

struct Colour {
  // Its meaning in the legend.
  std::string_view label;
  std::string_view fill;
  std::string_view text;
};

struct ColourScale {
  ColourBy by;
  // The class of a box is this and the position of its colour: "kind-0".
  std::string name;
  std::string title;
  std::vector<Colour> colours;
};

class Colouring {
 public:
  Colouring(const IR& ir, const std::vector<NodeFigures>& figures);

  // The scales with any known figure.
  const std::vector<ColourScale>& scales() const { return scales_; }
  // Null without any known figure.
  const ColourScale* find(ColourBy by) const;

  // "kind-1 error-3": by the worst error of its nodes, and by the sum of their times. Modules have
  // no kind.
  std::string classes_of(const Box& box) const;

  // Null if there are no figures at all.
  const NodeFigures* figures_of(size_t node) const {
    return figures_.empty() ? nullptr : &figures_[node];
  }

 private:
  const IR& ir_;
  std::vector<ColourScale> scales_;
  std::vector<NodeFigures> figures_;
  double seconds_ = 0;
};

}  // namespace torch_ir
