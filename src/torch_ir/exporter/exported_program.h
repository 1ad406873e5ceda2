// ExportedProgram: a traced model, before it is an IR.
//
// Capture makes one from a C++ module, the archive reader from a `.pt2` file; the converter reads
// it. It mirrors torch.export.ExportedProgram: nodes in execution order over numbered values, and a
// signature for the graph inputs. The graphs of control flow operators have values of their own.
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

// An item is empty where the list holds None.
using ValueList = std::vector<std::optional<ValueId>>;

struct ExportedArgument {
  // The name in the operator's schema.
  std::string name;
  // Attributes refer by name to numbers that nodes make.
  std::variant<ValueId, ValueList, Attribute> value;
};

// Skips references in attributes.
template <class Argument, class Visit>
void for_each_value(Argument& argument, const Visit& visit) {
  if (auto* id = std::get_if<ValueId>(&argument.value)) visit(*id);
  if (auto* list = std::get_if<ValueList>(&argument.value)) {
    for (auto& id : *list) {
      if (id) visit(*id);
    }
  }
}

// The path of the module that a node comes from ("encoder.layers.0"), and the line of the call
// ("model.py:42"). Empty if unknown.
struct NodeOrigin {
  std::string module = {};
  std::string source = {};
};

enum class InputKind { kUserInput, kParameter, kBuffer, kConstant };

struct ExportedInput {
  InputKind kind;
  ValueId value;
  // The name in the state dict ("linear.weight"); empty for user inputs.
  std::string target = {};
};

// See the members of TensorMeta with the same names.
struct ExportedValue {
  std::vector<int64_t> shape;
  c10::ScalarType dtype;
  std::vector<std::string> symbolic_shape = {};
  bool is_scalar = false;
  std::string expression = {};
  // Unique within the graph; empty for a value that no node makes any more.
  std::string name = {};
  std::vector<int64_t> strides = {};
};

struct ExportedNode;

struct ExportedGraph {
  // Parameters, buffers, constants, then user inputs: the order of torch.export.
  std::vector<ExportedInput> inputs;
  std::vector<ExportedNode> nodes;
  std::vector<ValueId> outputs;
  std::vector<ConstantOutput> constant_outputs = {};
  // Those of all placeholders and node outputs.
  std::vector<ExportedValue> values;

  ValueId add_value(ExportedValue value) {
    values.push_back(std::move(value));
    return static_cast<ValueId>(values.size() - 1);
  }
  ExportedValue& operator[](ValueId id) { return values[static_cast<size_t>(id)]; }
  const ExportedValue& operator[](ValueId id) const { return values[static_cast<size_t>(id)]; }

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
  // In schema order, without trailing positional and keyword-only arguments at their defaults.
  std::vector<ExportedArgument> arguments;
  std::vector<ValueId> outputs = {};
  // The graphs of a control flow operator, as OpNode::graphs.
  std::vector<ExportedGraph> graphs = {};
  NodeOrigin origin = {};
};

// The lines of calls by node name, as far as known.
using SourceLines = std::unordered_map<std::string, std::string>;

inline SourceLines source_lines_of(const ExportedGraph& graph) {
  SourceLines lines;
  for (const ExportedNode& node : graph.nodes) {
    if (!node.origin.source.empty()) lines.emplace(node.name, node.origin.source);
  }
  return lines;
}

// An output that is the new value of a buffer or a user input.
struct ExportedMutation {
  size_t output;
  ValueId placeholder;
};

struct ExportedProgram : ExportedGraph {
  std::string model_name;
  // The PyTorch that traced the model.
  std::string torch_version;
  std::vector<ExportedMutation> mutations = {};
  // See the members of IR with the same names.
  AttributeMap constant_inputs = {};
  std::vector<SymbolRange> range_constraints = {};
  std::vector<std::string> guards = {};
  // By target; on the meta device if the model was built there.
  StateDict constants = StateDict();
};

}  // namespace torch_ir
