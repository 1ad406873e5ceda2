// ExportedProgram: a traced model, before it is an IR.
//
// The meeting point of the front ends: capture makes one from a C++ module, the archive reader
// makes one from a `.pt2` file. The converter reads it and nothing behind the converter knows it.
// It mirrors torch.export.ExportedProgram: nodes in execution order over named values, and a
// signature that says what each graph input stands for. Names are unique within a graph; the graphs
// of control flow operators have values of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "torch_ir/ir/attribute.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// A list of values; nothing where the list holds None.
using ValueList = std::vector<std::optional<ValueRef>>;

struct ExportedArgument {
  // The name in the operator's schema.
  std::string name;
  // A tensor, a list of tensors, or all else; numbers that nodes make are references in attributes.
  std::variant<ValueRef, ValueList, Attribute> value;
};

// Where in a model a node comes from: the path of its module ("encoder.layers.0"), and the line
// that made the call ("model.py:42"). Empty where nobody recorded it.
struct NodeOrigin {
  std::string module = {};
  std::string source = {};
};

// What a placeholder stands for.
enum class InputKind { kUserInput, kParameter, kBuffer, kConstant };

struct ExportedInput {
  InputKind kind;
  // The placeholder: "x", "p_linear_weight", "b_scale", "c_mask".
  std::string name;
  // The name in the state dict ("linear.weight"); empty for user inputs.
  std::string target;
};

// The members of the same names in TensorMeta say more.
struct ValueMeta {
  std::vector<int64_t> shape;
  c10::ScalarType dtype;
  std::vector<std::string> symbolic_shape = {};
  bool is_scalar = false;
  std::string expression = {};
};

struct ExportedNode;

struct ExportedGraph {
  // Parameters, buffers, constants, then user inputs: the order of torch.export.
  std::vector<ExportedInput> inputs;
  std::vector<ExportedNode> nodes;
  // The values that the graph returns.
  std::vector<std::string> outputs;
  std::vector<ConstantOutput> constant_outputs = {};
  // Of every placeholder and every node output.
  std::unordered_map<std::string, ValueMeta> values;
};

struct ExportedNode {
  std::string name;
  // "aten.conv2d.default"
  std::string target;
  // Those that were given, in schema order. Trailing positional arguments and keyword-only
  // arguments at their defaults are not.
  std::vector<ExportedArgument> arguments;
  std::vector<std::string> outputs;
  // What a control flow operator runs, as OpNode::graphs.
  std::vector<ExportedGraph> graphs = {};
  NodeOrigin origin = {};
};

// Where the nodes of a graph come from, by their names; those of which nothing is known left out.
using NodeOrigins = std::unordered_map<std::string, NodeOrigin>;

inline NodeOrigins origins_of(const ExportedGraph& graph) {
  NodeOrigins origins;
  for (const ExportedNode& node : graph.nodes) {
    const bool is_known = !node.origin.module.empty() || !node.origin.source.empty();
    if (is_known) origins.emplace(node.name, node.origin);
  }
  return origins;
}

// An output that is the new value of a placeholder: a buffer or a user input.
struct ExportedMutation {
  size_t output;
  std::string placeholder;
};

struct ExportedProgram : ExportedGraph {
  std::string model_name;
  // The PyTorch that traced the model.
  std::string torch_version;
  std::vector<ExportedMutation> mutations = {};
  // As IR::constant_inputs and IR::range_constraints.
  AttributeMap constant_inputs = {};
  std::vector<SymbolRange> range_constraints = {};
  // Values of the constants by target; on the meta device where the model was built there.
  StateDict constants = StateDict();
};

}  // namespace torch_ir
