// ReferenceWatch: what a search for a reproducer has to know of a run of the model.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>

#include "harness/divergence/graph_part.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/operators/random_state.h"

namespace torch_ir {

class ReferenceWatch {
 public:
  // `ir` outlives this.
  explicit ReferenceWatch(const IR& ir);

  // To be called before the model runs, which draws the numbers of `seed`.
  void start(uint64_t seed);
  // To be told of each value as Candidate::observe has it.
  void see(const std::string& name, const at::Tensor& value);

  const ValueShapes& shapes() const { return shapes_; }
  // Nodes that drew random numbers.
  const std::set<size_t>& random_nodes() const { return random_nodes_; }

 private:
  // Nodes that may draw, by the values that they make.
  std::unordered_map<std::string, size_t> drawing_;
  RandomState before_;
  ValueShapes shapes_;
  std::set<size_t> random_nodes_;
};

}  // namespace torch_ir
