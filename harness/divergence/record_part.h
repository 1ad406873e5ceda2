// record_part: what goes into a part of a graph and comes out of it when the model itself runs.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/divergence/graph_part.h"
#include "harness/stages/candidate.h"
#include "torch_ir/executor/graph/graph_memory.h"

namespace torch_ir {

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
