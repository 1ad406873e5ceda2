// in_float64: a graph whose nodes compute in float64, the exact lane's (lanes.h).
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "torch_ir/runtime/graph/case.h"

namespace torch_ir {

// float64 for floating-point dtypes, complex128 for complex ones. Others stay unchanged, also
// float8, whose values are steps like those of int8 (rounding.h).
c10::ScalarType in_float64(c10::ScalarType dtype);

// Changes the dtypes of values, weights, constants and arguments, also in the graphs of control
// flow. Casts to smaller dtypes thus disappear, which leaves the arithmetic that the graph means.
// Nodes that would mean something else in float64 stay as they are, and get into `obstacles`, by
// number, with the reason: bits reinterpreted as another dtype, results that are properties of the
// dtype. Throws Error, naming the node, for such nodes inside control flow, and for quantized
// values.
Program in_float64(const Program& program, std::map<size_t, std::string>& obstacles);

// Puts what `replace` makes of tensors that share memory in their places.
void replace_groups(
    std::vector<at::Tensor>& tensors,
    c10::function_ref<std::vector<at::Tensor>(const std::vector<at::Tensor>& group)> replace);

// Keeps strides and shared memory. Throws Error if tensors share memory under several dtypes.
// Tensors that need no conversion are not copied.
std::vector<at::Tensor> in_float64(const std::vector<at::Tensor>& tensors);

struct Float64Case {
  // Without expected outputs.
  Case graph_case = {};
  std::shared_ptr<const std::map<size_t, std::string>> obstacles = nullptr;
};

// The graph in float64 with its tensors. Throws Error also if the weights are too large.
Float64Case in_float64(const Case& graph_case);

}  // namespace torch_ir
