// Turns recorded C++ calls into the graph that torch.export writes for Python.
#pragma once

#include <ATen/core/function_schema.h>

#include "torch_ir/ir/program.h"
#include "torch_ir/operators/call_recording.h"

namespace torch_ir {

// Throws ConversionError if `value` has no attribute form.
Argument exported_argument(const c10::Argument& argument, RecordedArgument<ValueId> value);

// Replaces operators of LibTorch's C++ front end by those that Python calls: `t` and `addmm` by
// `linear`, `x / 4.0` as `div.Scalar` by `div.Tensor`. Replaces each match of a pattern in
// rewrites.cc, longest first, in one pass, if nothing else uses the values inside.
void rewrite_to_python_form(Graph& graph);

// Gives the names of torch.export: placeholders by kind and state dict name ("p_fc_weight"), user
// inputs by their value's name, nodes by operator ("linear", "linear_1", ...), several outputs of a
// node "<node>_0", "<node>_1", ... A node gets a new number if its name, or one of its outputs', is
// taken. Drops trailing positional arguments and all keyword-only arguments that are at their
// defaults.
void name_graph(Graph& graph);

}  // namespace torch_ir
