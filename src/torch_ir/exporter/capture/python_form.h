// From the calls that a C++ model makes to the graph that torch.export writes for it in Python.
//
// The Recorder fills a graph whose nodes have all their arguments, defaults included, and no names.
// Here C++ calls become those of Python, and names are given.
#pragma once

#include <ATen/core/function_schema.h>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/operators/call_recording.h"

namespace torch_ir {

// `value` as the argument `argument`. Throws ConversionError where it has no attribute form.
ExportedArgument exported_argument(const c10::Argument& argument, RecordedArgument<ValueId> value);

// From the operators that LibTorch's C++ front end calls to those that Python calls:
// `torch::nn::Linear` is `t` and `addmm` in C++ and `linear` in Python; `x / 4.0` is `div.Scalar`
// and `div.Tensor`. Replaces every match of a pattern of rewrites.cc, the longest first, in one
// pass, when nothing outside of it uses the values inside.
void rewrite_to_python_form(ExportedGraph& graph);

// Gives the names that torch.export gives. Placeholders are named by kind and state dict name
// ("p_fc_weight"), user inputs by the name that their value has; nodes by operator ("linear",
// "linear_1", ...), the outputs of a node with several "<node>_0", "<node>_1", ... A node takes the
// next number where its name, or that of one of its outputs, is taken. Trailing positional
// arguments at their defaults are dropped, keyword-only ones wherever they stand.
void name_graph(ExportedGraph& graph);

}  // namespace torch_ir
