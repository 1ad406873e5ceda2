// GraphPicture: a picture of a graph, drawn where a model runs or where its page is written.
#pragma once

#include <string>

#include "harness/results/result.h"

namespace torch_ir {

inline constexpr const char* kPictureFile = "graph.svg";

struct GraphPicture {
  std::string svg = {};
  // The reason for a missing picture, in one line; empty for a model without a graph.
  std::string problem = {};
};

// Highlights the first node that differs. Never throws, because runs must not depend on pictures.
GraphPicture draw_graph(const Result& result);

}  // namespace torch_ir
