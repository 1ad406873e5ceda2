// The indices that a node picks by comparing values of its first input: argmax, topk, sort.
//
// Where two values are closer to each other than their errors, either index is right.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>

#include "torch_ir/ir/program.h"

namespace torch_ir {

// The output of the node that holds them; nothing if it picks none, or none by rounded values.
std::optional<ValueId> picked_indices(const Graph& graph, const Node& node);

struct IndexComparison {
  // Indices that are not the expected ones, but explained by errors.
  int64_t num_explained = 0;
  int64_t num_wrong = 0;
  // The first wrong one, one line; empty if there is none.
  std::string problem = {};
};

// `values`, in float64, are the first input of the node. Each is as much as `error`, and `unit` of
// itself, away from the value that was compared. The indices have the shape of the expected ones.
IndexComparison compare_indices(const Node& node, const at::Tensor& indices,
                                const at::Tensor& expected, const at::Tensor& values, double error,
                                double unit);

}  // namespace torch_ir
