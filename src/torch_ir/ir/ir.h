// The IR: a model's computation as a plain graph without weights.
//
// Made by the converter or read from a file; read by everything behind it. An IR owns all it
// holds and refers to nothing outside: nodes refer to values by name. A value is what the caller
// passes in (graph inputs), what the state dict or `constants` supply (weights), or an output of
// a node: a tensor, or, where shapes are dynamic, a number. Nodes are in execution order. The
// fields and their JSON form are those of the Python package `torch_ir`, and beyond it what
// ir_format.md calls version 2; validate.h says what a well-formed IR is.
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

// Tensors by name, in insertion order: what `torch::nn::Module::named_parameters()` returns too.
using StateDict = torch::OrderedDict<std::string, at::Tensor>;

// In a shape: a size that differs from run to run.
inline constexpr int64_t kDynamicSize = -1;

// Shape and dtype of a value; no data.
struct TensorMeta {
  // Unique in the graph; in `OpNode::inputs`, the placeholder or the output it refers to.
  std::string name;
  std::vector<int64_t> shape;
  // As dtype.h names them. A string, so that a file with an unknown dtype can be read, shown and
  // refused by validate_ir.
  std::string dtype;
  // The node that made the value; for a graph input its own name; none for weights.
  std::optional<std::string> producer_node = {};
  // Which output of the producer it is.
  int64_t producer_output_idx = 0;
  // In `OpNode::inputs`: the schema argument that this input is, where the position can not tell.
  // See binding.h. Empty otherwise.
  std::string arg = {};
  // For a dynamic shape an expression of symbols a dimension (sym_expr.h), "s0" or "2*s0 + 1",
  // empty where `shape` has the size and not kDynamicSize. No entries when all sizes are known.
  std::vector<std::string> symbolic_shape = {};
  // Whether it is a number and not a tensor: an int, a float or a bool, for the dtypes int64,
  // float64 and bool; the shape has no dimensions.
  bool is_scalar = false;
  // The number as an expression of symbols, where one is known; scalars only.
  std::string expression = {};
  // In `Graph::graph_outputs`: the graph input or placeholder of a buffer whose new value this is.
  // The model updates it, and so does who runs the graph and keeps state. Empty otherwise.
  std::string mutates = {};

  bool operator==(const TensorMeta&) const = default;
};

// An output that is fixed: None or a number.
struct ConstantOutput {
  // Its place among all outputs, those of Graph::graph_outputs included.
  int64_t index;
  Attribute value;

  bool operator==(const ConstantOutput&) const = default;
};

struct OpNode;

// Nodes over the values that come in and those they make.
struct Graph {
  std::vector<TensorMeta> graph_inputs;
  std::vector<TensorMeta> graph_outputs;
  std::vector<ConstantOutput> constant_outputs = {};
  std::vector<OpNode> nodes;

  bool operator==(const Graph&) const = default;
};

// One call of an operator.
struct OpNode {
  std::string name;
  // Namespace, operator, overload: "aten.conv2d.default".
  std::string op_type;
  // Tensor arguments, flat; binding.h says which argument each one is.
  std::vector<TensorMeta> inputs;
  std::vector<TensorMeta> outputs;
  // The other arguments, by schema name.
  AttributeMap attrs;
  // What a control flow operator runs: the branches of "higher_order.cond" (true, false), condition
  // and body of "higher_order.while_loop". Each sees its own values only.
  std::vector<Graph> graphs = {};

  bool operator==(const OpNode& other) const;
};

// What is known about the value of an expression of symbols; no limit where empty.
struct SymbolRange {
  std::string expression;
  std::optional<int64_t> min;
  std::optional<int64_t> max;

  bool operator==(const SymbolRange&) const = default;
};

struct IR : Graph {
  std::string model_name;
  // The version of PyTorch that the graph was extracted with, such as "2.13.0".
  std::string pytorch_version;
  // Parameters, buffers and lifted constants, by their names in the state dict.
  std::vector<TensorMeta> weights;
  // Placeholder ("p_linear_weight") to state dict name ("linear.weight").
  torch::OrderedDict<std::string, std::string> weight_name_mapping =
      torch::OrderedDict<std::string, std::string>();
  // Inputs of the model that are not tensors and had to be fixed when it was traced (a flag, a
  // string, None), by name. Nodes have their effect in them already.
  AttributeMap constant_inputs = {};
  // Of the symbols in symbolic shapes. A run checks them.
  std::vector<SymbolRange> range_constraints = {};
  // Values of lifted constants, by state dict name; contiguous, on the CPU.
  StateDict constants = StateDict();

  // Everything equal, constants bit for bit (but a NaN is a NaN, whatever its bits).
  bool operator==(const IR& other) const;

  // The file at `path`, as save_ir and load_ir of json.h.
  void save(const std::string& path) const;
  static IR load(const std::string& path);
  // JSON text, as serialize_ir and deserialize_ir of json.h.
  std::string to_json() const;
  static IR from_json(std::string_view text);
};

// Told of the values of a graph, while whoever computes them does. `name` is the value's name in
// the graph; numbers are tensors without dimensions, and None is an undefined one. The tensor
// itself, not a copy: a graph that writes in place may change it later.
using ValueObserver = std::function<void(const std::string& name, const at::Tensor& value)>;

// IR(model_name='B', nodes=3, inputs=1, outputs=1, weights=4)
std::ostream& operator<<(std::ostream& stream, const IR& ir);

// The number of elements of `meta`'s shape; 1 for a scalar.
int64_t num_elements(const TensorMeta& meta);

// "1x3x64x64", the form of shapes in graphs and reports; "scalar" for no dimensions.
std::string shape_text(const std::vector<int64_t>& shape);

// The same of `meta`'s shape, with its symbols: "s0x3"; "int", "float" or "bool" for a number.
std::string shape_text(const TensorMeta& meta);

// "[1, 3, s0]", the form of shapes in messages.
std::string shape_list_text(const TensorMeta& meta);

// Whether any size is dynamic.
bool is_dynamic(const TensorMeta& meta);

}  // namespace torch_ir
