// GraphPart: a part of a graph that is a graph itself.
//
// Nodes in a row, less those that the wanted values do not need; what the nodes before them make
// becomes graph inputs. Reproducers are such parts, and so are the calls of a model that is taken
// apart. Sizes that differ from run to run are fixed to those of one run: a part has no symbols.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "torch_ir/executor/graph/graph_memory.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// What a part takes from one run of the graph, by name.
struct RunFacts {
  std::unordered_map<std::string, std::vector<int64_t>> shapes = {};
  // Numbers that attributes have in place of references to them; others become inputs.
  std::unordered_map<std::string, Attribute> numbers = {};
};

// Nodes [first, last], and the values they make that are wanted.
struct NodeRange {
  size_t first = 0;
  size_t last = 0;
  std::vector<std::string> outputs = {};
};

struct GraphPart {
  // Its inputs are named as the values are that they stand for: graph inputs, outputs of nodes, and
  // placeholders of weights that are not what the state dict has.
  IR ir = {};
  // Indices in the whole graph, ascending.
  std::vector<size_t> nodes = {};
  // Why it would not compute what the whole graph does on the same values; empty when it would:
  // what shares memory with one another, and is written to, has to be cut as one.
  std::string problem = {};
};

// Cuts parts out of a graph.
class PartCutter {
 public:
  // Both outlive this. Without `memory` parts are single nodes, and nothing is said of what shares
  // memory.
  explicit PartCutter(const IR& ir, const GraphMemory* memory = nullptr);

  // Weights for which `is_input` holds become inputs: where it is null, those that nodes before
  // the part may write to.
  GraphPart cut(
      const NodeRange& range, const RunFacts& run,
      const std::function<bool(const std::string& placeholder)>& is_input = nullptr) const;

  // The value that an input of a node refers to: by producer, as plans look it up.
  std::string value_name(const TensorMeta& input) const;

 private:
  class Maker;

  const IR& ir_;
  const GraphMemory* memory_;
  std::unordered_map<std::string, const OpNode*> producers_;
  // Of graph inputs and of what nodes make.
  std::unordered_map<std::string, const TensorMeta*> metas_;
};

// The weight or constant of `ir` that `placeholder` stands for: in `weights`, by its name in the
// state dict or its placeholder, or among the constants. Null where there is none.
const at::Tensor* find_weight(const IR& ir, const StateDict& weights,
                              const std::string& placeholder);

}  // namespace torch_ir
