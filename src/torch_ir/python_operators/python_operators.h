// The operators that Python alone defines, so that no library has them.
//
// PyTorch decomposes models to `prims.*`, archives of PT2E have `quantized_decomposed.*`, and those
// of torchao `torchao.*`. They are defined here with the schemas and the arithmetic of Python's
// definitions, call by call of ATen, so that their results have the same bits:
// torch/_prims/__init__.py and torch/ao/quantization/fx/_decomposed.py of PyTorch 2.13, and
// torchao/quantization/quant_primitives.py of torchao 0.18. Those of quantised models take float64
// too, which Python refuses: a graph that is compared with its run in float64 has it.
#pragma once

#include <string_view>

namespace torch_ir {

// Registers the operators of the namespace of `name`, such as "prims::add", with LibTorch's
// dispatcher, except those that it already has, as in a Python process. find_operator (binding.h)
// calls it at each lookup; it does its work once.
void define_python_operators(std::string_view name);

}  // namespace torch_ir
