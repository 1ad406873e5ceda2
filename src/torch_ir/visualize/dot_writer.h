// DotWriter: spells sketches out as one Graphviz graph.
//
// What ir_to_dot and the pictures have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "torch_ir/visualize/sketch.h"

namespace torch_ir {

class DotWriter {
 public:
  // `layout` is attributes of the whole graph, "nslimit=2;", in Graphviz's own notation.
  explicit DotWriter(std::string_view name, std::string_view layout = "");

  // The operator that the node called `name` is drawn as stands out.
  void highlight(std::string name) { highlighted_ = std::move(name); }

  // The identifiers of `sketch` must not be in the graph yet. With a position the sketch comes
  // after those with smaller ones, where the layout packs its parts.
  void add(const GraphSketch& sketch, std::optional<size_t> position = std::nullopt);

  std::string take() && { return std::move(text_ += "}\n"); }

 private:
  void add(const Box& box, const std::string& attributes);
  void add(const Arrow& arrow);

  std::string text_;
  std::string highlighted_;
};

}  // namespace torch_ir
