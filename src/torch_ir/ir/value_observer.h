// ValueObserver: told of the values of a graph, while whoever computes them does.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>

namespace torch_ir {

// `name` is the value's name in the graph; numbers are tensors without dimensions, and None is an
// undefined one. The tensor itself, not a copy: a graph that writes in place may change it later.
using ValueObserver = std::function<void(const std::string& name, const at::Tensor& value)>;

}  // namespace torch_ir
