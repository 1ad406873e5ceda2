// GraphPart: a part of a graph that is a graph itself, and its values.
//
// Nodes in a row, less those that the wanted values do not need; what the nodes before them make
// becomes graph inputs. For reproducers. Sizes that differ from run to run are fixed to those of
// one run, so a part has no symbols.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/stages/candidate.h"
#include "torch_ir/executor/graph/graph_memory.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// The sizes of values in one run, by name.
using ValueShapes = std::unordered_map<std::string, std::vector<int64_t>>;

struct GraphPart {
  // Its inputs are named as the values are that they stand for: graph inputs, outputs of nodes, and
  // placeholders of weights that nodes before the part write to.
  IR ir;
  // Indices in the whole graph, ascending.
  std::vector<size_t> nodes;
  // Why it would not compute what the whole graph does on the same values; empty when it would:
  // what shares memory with one another, and is written to, has to be cut as one.
  std::string problem;
};

// The part of `ir` that makes `outputs` out of nodes [first, last].
GraphPart make_graph_part(const IR& ir, const GraphMemory& memory, const ValueShapes& shapes,
                          size_t first, size_t last, const std::vector<std::string>& outputs);

// What goes into a part and comes out of it when the model itself runs.
struct RecordedPart {
  // One for each graph input of the part, as it is before the first node of the part; contiguous.
  std::vector<at::Tensor> inputs;
  // One for each graph output, as it is when its node has made it.
  std::vector<at::Tensor> outputs;
};

// Runs `candidate` on `inputs`, as far as is needed; `part` begins with node `first` of `ir`.
// Nothing when the model does not tell all of the values, or one of them is no tensor that a file
// could hold. Throws what the model throws.
std::optional<RecordedPart> record_part(Candidate& candidate, const IR& ir,
                                        const GraphMemory& memory,
                                        const std::vector<at::Tensor>& inputs,
                                        const GraphPart& part, size_t first);

// Whether a file of tensors can hold what is in `tensor`, and the tensor that it gives back then.
bool fits_a_file(const at::Tensor& tensor);
at::Tensor plain_copy(const at::Tensor& tensor);

}  // namespace torch_ir
