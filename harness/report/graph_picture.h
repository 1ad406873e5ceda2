// GraphPicture: a picture of a graph, drawn where a model runs or where its page is written.
#pragma once

#include <string>

#include "harness/results/result.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

inline constexpr const char* kPictureFile = "graph.svg";
inline constexpr const char* kDataFile = "graph_data.json";

struct GraphPicture {
  std::string svg = {};
  // For index.html (graph_data.h).
  std::string data = {};
  // The reason for a missing picture, in one line; empty for a model without a graph.
  std::string problem = {};
};

// Highlights the first node that differs, and draws as one only nodes with equal figures. Never
// throws, because runs must not depend on pictures.
GraphPicture draw_graph(const Result& result, const SourceLines& source_lines = {});

// The same for a result that was read from results.json; `file` has its graph.
GraphPicture draw_saved_graph(Result result, const std::string& file);

}  // namespace torch_ir
