// Reading one graph of an archive into an ExportedGraph.
//
// Resolves names, names the arguments after the operators' schemas, inlines the wrappers
// (higher_order.cc) and makes casts of autocast explicit. Nothing of the JSON is kept but the
// shapes of values. Errors are SerializationError and name the place, or ExportError and name the
// node.
#pragma once

#include <ATen/core/function_schema.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/exporter/pt2/archive_values.h"

namespace torch_ir {

// The dtype to which autocast on the CPU casts; nothing where it is off.
using AutocastDtype = std::optional<c10::ScalarType>;

// A graph under construction: nodes are added in order, and names stay unique.
class GraphBuilder {
 public:
  // Keeps `name` from being given to anything by new_name.
  void reserve(const std::string& name) { taken_.insert(name); }
  // `wanted`, or with the first free number behind it: "add", "add_1", ... From now on taken.
  std::string new_name(const std::string& wanted);

  // Where the nodes that are added from now on come from.
  void set_origin(NodeOrigin origin) { origin_ = std::move(origin); }

  // A placeholder, called as `value`.
  ValueId add_input(InputKind kind, ExportedValue value, const std::string& target = {});
  // A node that makes `outputs`; returns them. Throws ExportError where a name is another's.
  std::vector<ValueId> add_node(ExportedNode node, std::vector<ExportedValue> outputs);
  // A node of one output, both named after `output`.
  ValueId add_value(const std::string& target, std::vector<ExportedArgument> arguments,
                    ExportedValue output);
  // The number `value` as a value of the graph.
  ValueId add_number(const std::string& wanted, const Attribute& value);
  // Appends to the outputs.
  void add_output(ValueId value) { graph_.outputs.push_back(value); }
  void add_output(const Attribute& value);

  std::optional<ValueId> find(const std::string& name) const;
  // The value that `operand` is, or that has the number it refers to; nothing where it is fixed.
  std::optional<ValueId> value_of(const Operand& operand) const;
  const ExportedGraph& graph() const { return graph_; }
  ExportedGraph take() { return std::move(graph_); }

 private:
  ValueId define(ExportedValue value);

  ExportedGraph graph_;
  NodeOrigin origin_;
  std::unordered_map<std::string, ValueId> values_;
  std::unordered_set<std::string> taken_;
  // Names of placeholders and nodes, which must differ.
  std::unordered_set<std::string> producers_;
  std::unordered_map<std::string, int> next_number_;
};

// Autocast, made explicit: adds `node`, which makes `outputs`, to `builder`, behind the casts that
// autocast to `dtype` makes of its arguments, each a node of its own (aten.to.dtype); returns the
// outputs. What is cast is asked of LibTorch, operator by operator. Throws ExportError for an
// operator that has no rule for autocast, but consists of operators that have.
std::vector<ValueId> add_under_autocast(ExportedNode node, std::vector<ExportedValue> outputs,
                                        c10::ScalarType dtype, GraphBuilder& builder);

// A graph that is inlined has names of its own, which may be the same as others around it: its
// inputs stand for the operands, the rest is named anew. Other graphs keep their names.
enum class GraphNames { kKept, kRenamed };

class GraphReader {
 public:
  // Reads what `graph` says of its values. It, `place` and `builder` must outlive the reader.
  // Throws ExportError that names the operators that are not supported, and their nodes.
  GraphReader(const JsonValue& graph, const Place& place, GraphNames names, GraphBuilder& builder,
              AutocastDtype autocast = std::nullopt);

  const std::vector<Attribute>& inputs() const { return inputs_; }
  const std::vector<Attribute>& outputs() const { return outputs_; }

  // From now on `name` stands for `operand`, or for the value. Throws ExportError when it stands
  // for something already.
  void bind(const std::string& name, Operand operand);
  void bind_value(const std::string& name, ValueId id);
  // Adds the input of the graph called `name`, and binds it.
  void add_input(InputKind kind, const std::string& name, const std::string& target = {});
  // What an input or output of the graph stands for.
  Operand resolve(const Attribute& port) const;

  // Adds all nodes to the builder's graph; the inputs are bound.
  void read_nodes();

  // The class of the model that the nodes are part of: "torchvision.models.resnet.ResNet"; empty
  // where the archive does not tell.
  const std::string& root_class() const { return root_class_; }

 private:
  // A node in the archive's JSON, whose arguments are read when it is known what they are.
  struct Call {
    std::string name;
    std::string target;
    const JsonValue::array_t& arguments;
    const Place& place;
    // In order, members of lists in a row; nothing for None.
    std::vector<std::optional<std::string>> outputs;
    // Of the arguments that the target takes.
    size_t first = 0;

    size_t size() const { return arguments.size() - first; }
    ObjectReader operator[](size_t index) const;
    // What the archive calls the argument; empty where it leaves that to the position.
    std::string argument_name(size_t index, const c10::FunctionSchema* schema) const;
  };

  // --- Nodes ---
  void read_node(const JsonValue& json, const Place& place);
  void add(const Call& call);
  void add_operator(const Call& call);
  // `node` without name and outputs, which are those of `call`.
  void add_node(const Call& call, ExportedNode node);
  std::string new_name(const std::string& name) const;
  std::string node_name(const Call& call, const ExportedNode& node,
                        const std::vector<ExportedValue>& outputs) const;

  // --- Arguments ---
  const Operand& find(const std::string& name) const;
  // What the archive says about the value. Throws ExportError when it says nothing.
  const ExportedValue& value(const std::string& name) const;
  Operand read(const Call& call, size_t index) const;
  std::vector<Operand> read_list(const Call& call, size_t index) const;
  // Throws ExportError that says what was expected, where it is no fixed `T`.
  template <class T>
  T read_fixed(const Call& call, size_t index, const char* expected) const;
  std::vector<ExportedArgument> read_arguments(const Call& call) const;

  // --- Operators that run graphs: wrappers are inlined, control flow keeps its graphs ---

  // Calls `use(json, place)` with the graph that is argument `index`.
  template <class Use>
  auto with_graph(const Call& call, size_t index, const Use& use) const;
  // The operands follow the graph, which is argument `index`.
  void inline_graph(const Call& call, size_t index, AutocastDtype autocast);
  AutocastDtype autocast_of(const Call& call) const;

  // torch.set_grad_enabled changes no value.
  void inline_set_grad_enabled(const Call& call) { inline_graph(call, 1, autocast_); }
  // torch.autocast, for the CPU; regions for other devices change nothing here.
  void inline_autocast(const Call& call) { inline_graph(call, 4, autocast_of(call)); }
  // An operator with effects, which a token keeps in order; the order of nodes does that here.
  void inline_with_effects(const Call& call);
  void skip(const Call&) {}

  // The operands that are values; the others are fixed inside the graphs.
  ValueList values_among(const std::vector<Operand>& operands) const;
  ExportedGraph read_branch(const Call& call, size_t index, const std::vector<Operand>& operands,
                            bool returns_outputs) const;
  void add_cond(const Call& call);
  void add_while_loop(const Call& call);

  struct Target;
  static const Target* find_special_target(std::string_view target);
  static bool is_supported(std::string_view target);
  void check_targets() const;
  void reserve_names();

  const Place& place_;
  const Place nodes_place_ = place_.key("nodes");
  const JsonValue::array_t& nodes_;
  const GraphNames names_;
  GraphBuilder& builder_;
  const AutocastDtype autocast_;
  std::vector<Attribute> inputs_;
  std::vector<Attribute> outputs_;
  std::unordered_map<std::string, ExportedValue> values_;
  std::unordered_map<std::string, Operand> operands_;
  // What values of an inlined graph are to be called.
  std::unordered_map<std::string, std::string> wishes_;
  std::string root_class_;
};

}  // namespace torch_ir
