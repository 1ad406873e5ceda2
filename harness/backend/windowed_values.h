// WindowedValues: values of nodes from runs of the whole graph, as many per run as fit into bounded
// memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/backend/backend.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

class WindowedValues : public NodeValues {
 public:
  // Runs the graph and returns one tensor for each of `values`.
  using Run = std::function<std::vector<at::Tensor>(std::span<const ValueId> values)>;

  // `values`, in the order of the graph, are all that runs can return, `most_bytes` of them or one
  // in a run. `program` outlives this.
  WindowedValues(const Program& program, std::vector<ValueId> values, int64_t most_bytes, Run run);

  at::Tensor next(const std::string& name) override;

 private:
  const Run run_;
  const Program& program_;
  const std::vector<ValueId> values_;
  const int64_t most_bytes_;
  std::unordered_map<std::string, size_t> positions_;
  std::unordered_map<ValueId, at::Tensor> pending_;
};

}  // namespace torch_ir
