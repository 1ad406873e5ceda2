// Case: a graph with its tensors, which is run, judged, split or written to files as a whole.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <utility>
#include <vector>

#include "torch_ir/ir/program.h"

namespace torch_ir {

// Copies share the graph and the tensors.
struct Case {
  std::shared_ptr<const Program> program = nullptr;
  // By their names in the state dict, or by placeholder. May have more than the graph reads.
  StateDict weights = StateDict();
  // Used where `weights` lacks a name, before the program's own constants.
  StateDict constants = StateDict();
  // One for each user input of the program.
  std::vector<at::Tensor> inputs = {};
  // The expected outputs, one for each of the program's; undefined where unknown, empty if all are.
  std::vector<at::Tensor> expected = {};

  // Another graph with the same tensors.
  Case with(Program other) const {
    Case result = *this;
    result.program = std::make_shared<const Program>(std::move(other));
    return result;
  }
};

// A weight or constant of the graph, looked for as `lower` does; null if there is none.
const at::Tensor* find_weight(const Case& graph_case, const GraphInput& input);

}  // namespace torch_ir
