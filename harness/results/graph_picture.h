// The picture of a model's graph for its reports.
//
// Drawn in the process that writes the reports or in that of the model: it touches no tensor.
#pragma once

#include <string>

#include "harness/results/result.h"

namespace torch_ir {

// Where the process of a model leaves the picture, in the folder of its files.
inline constexpr const char* kPictureFile = "graph.svg";

struct GraphPicture {
  // The document; empty where there is none.
  std::string svg = {};
  // Why there is none, one line; empty also for a model without a graph.
  std::string problem = {};
};

// The first node that differs stands out. Never throws: a run does not depend on its pictures.
GraphPicture draw_graph(const ModelResult& result);

}  // namespace torch_ir
