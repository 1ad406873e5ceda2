// Program: the graph inside, which everything that looks at graphs takes.
//
// Values and nodes are numbered, in the order of execution. Capture makes a program from a C++
// module, the archive reader from a `.pt2` file, and `resolve` (resolve.h) from an IR, the document
// in which the same facts stand by name. It mirrors torch.export.ExportedProgram. A program that a
// function returns is valid and its uses are set, so its callers need not check it again.
#pragma once

#include <c10/core/ScalarType.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Index into Graph::values.
using ValueId = uint32_t;

// An item is empty where the list holds None.
using ValueList = std::vector<std::optional<ValueId>>;

// Attributes refer by name to numbers that nodes make.
using ArgumentValue = std::variant<ValueId, ValueList, Attribute>;

struct Argument {
  Argument() = default;
  Argument(std::string its_name, ArgumentValue its_value)
      : name(std::move(its_name)), value(std::move(its_value)) {}
  // Otherwise a flag would become a ValueId.
  template <std::same_as<bool> Flag>
  Argument(std::string its_name, Flag flag) : Argument(std::move(its_name), Attribute(flag)) {}

  // The name in the operator's schema. Empty for an input of an operator whose schema is unknown,
  // if the document does not name it.
  std::string name;
  ArgumentValue value;
  // The values that the attribute refers to, one for each of value_refs. Set by `set_uses`.
  std::vector<ValueId> numbers = {};
};

// Calls `visit` with each tensor, in order, but not with numbers in attributes.
template <class AnyArgument, class Visit>
void for_each_value(AnyArgument& argument, const Visit& visit) {
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

struct GraphInput {
  // A document does not distinguish the kinds of weights: there, all are kParameter.
  InputKind kind;
  ValueId value;
  // The name in the state dict ("linear.weight"); empty for user inputs.
  std::string target = {};
};

// See the members of TensorMeta with the same names.
struct Value {
  std::vector<int64_t> shape;
  c10::ScalarType dtype;
  std::vector<std::string> symbolic_shape = {};
  bool is_scalar = false;
  std::string expression = {};
  // Unique within the graph; empty for a value that no node makes any more.
  std::string name = {};
  std::vector<int64_t> strides = {};
  bool requires_grad = false;

  // Set by `set_uses`: the node that makes it and its place among the outputs, and the nodes that
  // read it, ascending, each once.
  std::optional<uint32_t> producer = std::nullopt;
  uint32_t output_index = 0;
  std::vector<uint32_t> readers = {};
};

struct Node;

struct Graph {
  // Parameters, buffers, constants, then user inputs: the order of torch.export.
  std::vector<GraphInput> inputs;
  std::vector<Node> nodes;
  std::vector<ValueId> outputs;
  std::vector<ConstantOutput> constant_outputs = {};
  // Those of all placeholders and node outputs.
  std::vector<Value> values;

  ValueId add_value(Value value) {
    values.push_back(std::move(value));
    return static_cast<ValueId>(values.size() - 1);
  }
  Value& operator[](ValueId id) { return values[id]; }
  const Value& operator[](ValueId id) const { return values[id]; }

  // By name. Takes time in proportion to the graph; for names that are looked up often, ids.
  std::optional<ValueId> find(std::string_view name) const;
  // All names, which the graph keeps.
  std::unordered_map<std::string_view, ValueId> ids() const;

  std::vector<ValueId> user_inputs() const;
};

struct Node {
  std::string name;
  // "aten.conv2d.default"
  std::string target;
  // In schema order, without trailing positional and keyword-only arguments at their defaults. If
  // the schema is unknown: tensors, then attributes, in the order of the document.
  std::vector<Argument> arguments;
  std::vector<ValueId> outputs = {};
  // See OpNode::graphs.
  std::vector<Graph> graphs = {};
  NodeOrigin origin = {};

  // Null if the argument is not given.
  const Argument* find(std::string_view argument) const;
  // Null also for a tensor.
  const Attribute* find_attribute(std::string_view argument) const;

  // The first that is Opaque, so that the others need not fit the schema; null if there is none.
  const Argument* find_opaque() const;

  // The tensors, as OpNode::inputs has them.
  std::vector<ValueId> inputs() const;

  // Calls `visit` with each value that the node reads, as often as it does: tensors, and numbers in
  // attributes.
  template <class Visit>
  void for_each_read(const Visit& visit) const {
    for (const Argument& argument : arguments) {
      for_each_value(argument, visit);
      for (const ValueId number : argument.numbers) visit(number);
    }
  }
};

// The lines of calls by node name, as far as known.
using SourceLines = std::unordered_map<std::string, std::string>;

SourceLines source_lines_of(const Graph& graph);

// An output that is the new value of a buffer or a user input: state.
struct Mutation {
  size_t output;
  ValueId placeholder;
  // Whether nodes write to the placeholder, which then is the output (IR::state). Otherwise the
  // output is a value of its own (TensorMeta::mutates).
  bool in_place = false;
};

struct Program : Graph {
  std::string model_name;
  // The PyTorch that traced the model.
  std::string torch_version;
  std::vector<Mutation> mutations = {};

  // Null if the output is not state.
  const Mutation* find_mutation(size_t output) const;
  // Whether it is one of IR::state, and so none of IRGraph::graph_outputs.
  bool is_in_place(size_t output) const;

  // See the members of IR with the same names.
  std::vector<std::vector<std::string>> tied_weights = {};
  AttributeMap constant_inputs = {};
  std::vector<SymbolRange> range_constraints = {};
  std::vector<std::string> guards = {};
  // By target; on the meta device if the model was built there.
  StateDict constants = StateDict();
};

// Sets what follows from the rest of the graph, also in those of its nodes: producers and readers
// of values, and the numbers of arguments. Whoever makes or changes a graph calls it last. Throws
// ValidationError if an attribute refers to a value that the graph does not have.
void set_uses(Graph& graph);

// Whether a call of `node` reads storages and not only its inputs, as as_strided does.
bool reads_storage(const Node& node);

// As those of TensorMeta (ir.h).
bool is_dynamic(const Value& value);
int64_t num_elements(const Value& value);
std::string shape_text(const Value& value);
std::string shape_list_text(const Value& value);

}  // namespace torch_ir
