// Runs the model itself for the search for a reproducer, and records values and random nodes.
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
#include "torch_ir/ir/ir.h"
#include "torch_ir/operators/random_state.h"
#include "torch_ir/runtime/graph/graph_memory.h"

namespace torch_ir {

class ReferenceWatch {
 public:
  // `ir` must outlive this.
  explicit ReferenceWatch(const IR& ir);

  // Runs `candidate` on `inputs` with the random numbers of `seed`; `observer` may be null.
  void run(Candidate& candidate, const std::vector<at::Tensor>& inputs, uint64_t seed,
           const ValueObserver& observer = nullptr);

  const RunFacts& facts() const { return facts_; }
  const std::set<size_t>& random_nodes() const { return random_nodes_; }

 private:
  std::unordered_map<std::string, size_t> drawing_;
  RunFacts facts_;
  std::set<size_t> random_nodes_;
};

// The values that enter and leave a part when the model itself runs.
struct RecordedPart {
  // One per graph input of the part, as it is before the part's first node; contiguous.
  std::vector<at::Tensor> inputs = {};
  // One per graph output, as its node leaves it; empty if any is unknown.
  std::vector<at::Tensor> outputs = {};
};

// Runs `candidate` on `inputs` as far as needed; `part` begins with node `first` of `ir`. Returns
// nothing if an input is not reported or cannot be stored in a file. Throws what the model throws.
std::optional<RecordedPart> record_part(Candidate& candidate, const IR& ir,
                                        const GraphMemory& memory,
                                        const std::vector<at::Tensor>& inputs,
                                        const GraphPart& part, size_t first);

// Whether a file of tensors can hold `tensor`; plain_copy returns it as the file would.
bool fits_a_file(const at::Tensor& tensor);
at::Tensor plain_copy(const at::Tensor& tensor);

}  // namespace torch_ir
