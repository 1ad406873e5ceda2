// What a search for a reproducer has to know of runs of the model itself.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/stages/candidate.h"
#include "torch_ir/cases/graph_part.h"
#include "torch_ir/executor/graph/graph_memory.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/operators/random_state.h"

namespace torch_ir {

class ReferenceWatch {
 public:
  // `ir` outlives this.
  explicit ReferenceWatch(const IR& ir);

  // Runs `candidate` on `inputs` with the random numbers of `seed`, and tells `observer`, which may
  // be null, as Candidate::observe does.
  void run(Candidate& candidate, const std::vector<at::Tensor>& inputs, uint64_t seed,
           const ValueObserver& observer = nullptr);

  const RunFacts& facts() const { return facts_; }
  // Nodes that drew random numbers.
  const std::set<size_t>& random_nodes() const { return random_nodes_; }

 private:
  // Nodes that may draw, by the values that they make.
  std::unordered_map<std::string, size_t> drawing_;
  RunFacts facts_;
  std::set<size_t> random_nodes_;
};

// What goes into a part and comes out of it when the model itself runs.
struct RecordedPart {
  // One for each graph input of the part, as it is before the first node of the part; contiguous.
  std::vector<at::Tensor> inputs = {};
  // One for each graph output, as it is when its node has made it.
  std::vector<at::Tensor> outputs = {};
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
