// WholeRunValues: the values of nodes from a backend that only runs whole graphs.
//
// It runs the graph with some of its intermediate values as further outputs, as many at a time as
// fit into a bounded memory. Values that the graph writes to later are not what they were when they
// were made, and so are not told.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/backend/backend.h"
#include "torch_ir/executor/graph/graph_memory.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

class WholeRunValues : public NodeValues {
 public:
  struct Options {
    // Of the values of one run, as far as their sizes are known before.
    int64_t max_bytes = int64_t{256} << 20;
    // Called before each run.
    std::function<void()> before_run = nullptr;
  };

  // All of them outlive this.
  WholeRunValues(Backend& backend, const IR& ir, const StateDict& weights,
                 const std::vector<at::Tensor>& inputs, const GraphMemory& memory, Options options);

  at::Tensor next(const std::string& name) override;

 private:
  struct Value {
    TensorMeta meta;
    int64_t num_bytes = 0;
  };

  void run_from(size_t position);

  Backend& backend_;
  const StateDict& weights_;
  const std::vector<at::Tensor>& inputs_;
  const Options options_;
  // The graph, whose outputs are replaced for each run.
  IR ir_;
  const std::vector<TensorMeta> outputs_;
  // Those that can be outputs, in the order of the graph.
  std::vector<Value> values_;
  std::unordered_map<std::string, size_t> positions_;
  // What the last run gave and nobody asked for yet.
  std::unordered_map<std::string, at::Tensor> pending_;
};

}  // namespace torch_ir
