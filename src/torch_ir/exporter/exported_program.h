// ExportedProgram: a traced model, before it is an IR.
//
// The meeting point of the front ends: capture fills one from a C++ module, the archive reader
// fills one from a `.pt2` file. The converter reads it and nothing behind the converter knows it.
// It mirrors torch.export.ExportedProgram: nodes in execution order over numbered values, and a
// signature that says what each graph input stands for. The graphs of control flow operators have
// values of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "torch_ir/ir/attribute.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Index into ExportedGraph::values.
enum class ValueId : size_t {};

// A list of values; nothing where the list holds None.
using ValueList = std::vector<std::optional<ValueId>>;

struct ExportedArgument {
  // The name in the operator's schema.
  std::string name;
  // A tensor, a list of tensors, or all else; numbers that nodes make are references by name in
  // attributes.
  std::variant<ValueId, ValueList, Attribute> value;
};

// Calls `visit` with the values that `argument` is; references in attributes are not among them.
template <class Argument, class Visit>
void for_each_value(Argument& argument, const Visit& visit) {
  if (auto* id = std::get_if<ValueId>(&argument.value)) visit(*id);
  if (auto* list = std::get_if<ValueList>(&argument.value)) {
    for (auto& id : *list) {
      if (id) visit(*id);
    }
  }
}

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
  // The placeholder, called "x", "p_linear_weight", "b_scale", "c_mask".
  ValueId value;
  // The name in the state dict ("linear.weight"); empty for user inputs.
  std::string target = {};
};

// The members of the same names in TensorMeta say more.
struct ExportedValue {
  std::vector<int64_t> shape;
  c10::ScalarType dtype;
  std::vector<std::string> symbolic_shape = {};
  bool is_scalar = false;
  std::string expression = {};
  // Unique within the graph; empty for a value that no node makes any more.
  std::string name = {};
};

struct ExportedNode;

struct ExportedGraph {
  // Parameters, buffers, constants, then user inputs: the order of torch.export.
  std::vector<ExportedInput> inputs;
  std::vector<ExportedNode> nodes;
  // The values that the graph returns.
  std::vector<ValueId> outputs;
  std::vector<ConstantOutput> constant_outputs = {};
  // Of every placeholder and every node output.
  std::vector<ExportedValue> values;

  ValueId add_value(ExportedValue value) {
    values.push_back(std::move(value));
    return static_cast<ValueId>(values.size() - 1);
  }
  ExportedValue& operator[](ValueId id) { return values[static_cast<size_t>(id)]; }
  const ExportedValue& operator[](ValueId id) const { return values[static_cast<size_t>(id)]; }

  // The value called `name`; looks at all of them.
  std::optional<ValueId> find(std::string_view name) const {
    const auto found = std::ranges::find(values, name, &ExportedValue::name);
    if (found == values.end()) return std::nullopt;
    return static_cast<ValueId>(found - values.begin());
  }
};

struct ExportedNode {
  std::string name;
  // "aten.conv2d.default"
  std::string target;
  // Those that were given, in schema order. Trailing positional arguments and keyword-only
  // arguments at their defaults are not.
  std::vector<ExportedArgument> arguments;
  std::vector<ValueId> outputs = {};
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
  ValueId placeholder;
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
