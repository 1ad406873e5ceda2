// The IR: a model's computation as a plain graph without weights.
//
// An IR owns all it holds; nodes refer to values by name. A value is a graph input, a weight (from
// the state dict or `constants`), or an output of a node: a tensor or, with dynamic shapes, a
// number. Nodes are in execution order. The fields and their JSON form are those of the Python
// package `torch_ir`, with the additions that ir_format.md calls version 2; resolve.h says what is
// a well-formed IR.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/ordered_dict.h>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/ir/attribute.h"

namespace torch_ir {

// Tensors by name, in insertion order, as `torch::nn::Module::named_parameters()` returns them.
using StateDict = torch::OrderedDict<std::string, at::Tensor>;

// In a shape: a size that differs from run to run.
inline constexpr int64_t kDynamicSize = -1;

struct TensorMeta {
  // Unique in the graph; in `OpNode::inputs`, the placeholder or output it refers to.
  std::string name;
  std::vector<int64_t> shape;
  // As PyTorch names it: "float32". A string, so that a file with an unknown dtype can be read,
  // shown and refused by validate_ir.
  std::string dtype;
  // The node that made the value; for a graph input its own name; none for weights.
  std::optional<std::string> producer_node = {};
  int64_t producer_output_idx = 0;
  // In `OpNode::inputs`: the schema argument of this input, if the position is ambiguous.
  std::string arg = {};
  // Has one entry per dimension if any size is dynamic, and is empty otherwise: an expression of
  // symbols, "s0" or "2*s0 + 1", or "" if `shape` has the size.
  std::vector<std::string> symbolic_shape = {};
  // Whether it is a number and not a tensor: an int, a float or a bool, for the dtypes int64,
  // float64 and bool; the shape has no dimensions.
  bool is_scalar = false;
  // The number as an expression of symbols, if known; scalars only.
  std::string expression = {};
  // In `IRGraph::graph_outputs`: the graph input or the placeholder of the buffer whose new value
  // this is. The model updates it; a runtime that keeps state must too. Empty otherwise, also for
  // IR::state.
  std::string mutates = {};
  // In `IR::weights` and in the inputs of the model: the strides, in elements, where they differ
  // from those of a contiguous tensor and nodes may read them; empty otherwise.
  std::vector<int64_t> strides = {};
  // In `IR::weights`: whether it is trainable, as `requires_grad` of the model's tensor says.
  // LibTorch chooses other kernels for such weights, with other last bits, also where no gradient
  // is computed.
  bool requires_grad = false;

  bool operator==(const TensorMeta&) const = default;
};

struct ConstantOutput {
  // Its index among all outputs, including those of IRGraph::graph_outputs.
  int64_t index;
  Attribute value;

  bool operator==(const ConstantOutput&) const = default;
};

struct OpNode;

struct IRGraph {
  std::vector<TensorMeta> graph_inputs;
  std::vector<TensorMeta> graph_outputs;
  std::vector<ConstantOutput> constant_outputs = {};
  std::vector<OpNode> nodes;

  bool operator==(const IRGraph&) const = default;
};

struct OpNode {
  std::string name;
  // "aten.conv2d.default"
  std::string op_type;
  // Tensor arguments, flat, in the order of the schema.
  std::vector<TensorMeta> inputs;
  std::vector<TensorMeta> outputs;
  AttributeMap attrs;
  // The graphs of a higher-order operator: the branches of "higher_order.cond" (true, false),
  // condition and body of "higher_order.while_loop", the body of "higher_order.scan" and
  // "higher_order.map_impl". Each sees only its own values.
  std::vector<IRGraph> graphs = {};
  // The path of the module that makes the call ("encoder.layers.0.mlp"); empty if unknown, and for
  // calls of the model itself. It labels the node and has no effect on what is computed.
  std::string module = {};

  bool operator==(const OpNode&) const = default;
};

// Bounds of an expression of symbols; empty means no limit.
struct SymbolRange {
  std::string expression;
  std::optional<int64_t> min;
  std::optional<int64_t> max;

  bool operator==(const SymbolRange&) const = default;
};

struct IR : IRGraph {
  std::string model_name;
  // The version of PyTorch that extracted the graph, such as "2.13.0".
  std::string pytorch_version;
  // Parameters, buffers and lifted constants, by their names in the state dict.
  std::vector<TensorMeta> weights;
  // Placeholder ("p_linear_weight") to state dict name ("linear.weight").
  torch::OrderedDict<std::string, std::string> weight_name_mapping =
      torch::OrderedDict<std::string, std::string>();
  // The names of each tensor that has several in the state dict (tied weights). The graph may use
  // some of them only.
  std::vector<std::vector<std::string>> tied_weights = {};
  // The state: the placeholders and graph inputs that nodes write to, in place. Their values at the
  // end of a run are outputs too, after `graph_outputs`.
  std::vector<std::string> state = {};
  // Inputs of the model that are not tensors and were fixed during tracing (a flag, a string,
  // None), by name. Their effect is already in the nodes.
  AttributeMap constant_inputs = {};
  // Bounds of symbols in shapes, checked by each run.
  std::vector<SymbolRange> range_constraints = {};
  // Conditions on the sizes of inputs under which the graph is the model ("x.size()[0] % 4 == 0"),
  // checked by each run.
  std::vector<std::string> guards = {};
  // Values of lifted constants, by state dict name; contiguous, on the CPU.
  StateDict constants = StateDict();

  // Compares constants bit by bit, except that all NaNs are equal.
  bool operator==(const IR& other) const;

  void save(const std::string& path) const;
  static IR load(const std::string& path);
  std::string to_json() const;
  static IR from_json(std::string_view text);
};

// Called with each value of a graph as it is computed. `name` is the value's name in the graph;
// numbers are tensors without dimensions, and None is an undefined tensor. `value` is not a copy: a
// graph that writes in place may change it later.
using ValueObserver = std::function<void(const std::string& name, const at::Tensor& value)>;

std::ostream& operator<<(std::ostream& stream, const IR& ir);

int64_t num_elements(const TensorMeta& meta);

// "1x3x64x64", the form of shapes in graphs and reports; "scalar" for no dimensions.
std::string shape_text(const std::vector<int64_t>& shape);

// As above, with symbols: "s0x3"; "int", "float" or "bool" for a number.
std::string shape_text(const TensorMeta& meta);

// "[1, 3, s0]", the form of shapes in messages.
std::string shape_list_text(const TensorMeta& meta);

bool is_dynamic(const TensorMeta& meta);

}  // namespace torch_ir
