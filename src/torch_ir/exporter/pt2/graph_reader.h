// Reads one graph of an archive into a Graph.
//
// Resolves names, names arguments after the operators' schemas, inlines wrappers (higher_order.cc)
// and makes the casts of autocast explicit. Keeps nothing of the JSON but the shapes of values.
// Throws SerializationError with the place, or ExportError with the node.
#pragma once

#include <ATen/core/function_schema.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "torch_ir/exporter/pt2/archive_values.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

// The region of torch.autocast that a node is in.
struct Autocast {
  // kCPU or kCUDA, which cast differently.
  c10::DeviceType device;
  c10::ScalarType dtype;
};

// "aten.conv2d.default" for "torch.ops.aten.conv2d.default", and for that operator of a dialect of
// ExecuTorch, "executorch.exir.dialects.edge._ops.aten.conv2d.default"; other targets are
// unchanged.
std::string op_type_of_target(std::string_view target);

class GraphBuilder {
 public:
  void reserve(const std::string& name) { taken_.insert(name); }
  // Reserves and returns `wanted`, or the first free name after it: "add", "add_1", ...
  std::string new_name(const std::string& wanted);

  void set_origin(NodeOrigin origin) { origin_ = std::move(origin); }

  ValueId add_input(InputKind kind, Value value, const std::string& target = {});
  // Adds a node and returns its outputs. Throws ExportError if a name is taken.
  std::vector<ValueId> add_node(Node node, std::vector<Value> outputs);
  // Names the node and its output after `output`.
  ValueId add_value(const std::string& target, std::vector<Argument> arguments, Value output);
  ValueId add_number(const std::string& wanted, const Attribute& value);
  void add_output(ValueId value) { graph_.outputs.push_back(value); }
  // A constant output if `output` is fixed.
  void add_output(const Operand& output);

  std::optional<ValueId> find(const std::string& name) const;
  // The value that `operand` is or refers to; nothing if it is fixed.
  std::optional<ValueId> value_of(const Operand& operand) const;
  const Graph& graph() const { return graph_; }
  Graph take() { return std::move(graph_); }

 private:
  ValueId define(Value value);

  Graph graph_;
  NodeOrigin origin_;
  std::unordered_map<std::string, ValueId> values_;
  std::unordered_set<std::string> taken_;
  // Names of placeholders and nodes, which must differ.
  std::unordered_set<std::string> producers_;
  std::unordered_map<std::string, int> next_number_;
};

// Adds `node` with the casts that `autocast` makes of its arguments, each a node of its own
// (aten.to.dtype), and returns its outputs. Asks LibTorch which arguments are cast. Throws
// ExportError for an operator without a rule for autocast that consists of operators with one.
std::vector<ValueId> add_under_autocast(Node node, std::vector<Value> outputs,
                                        const Autocast& autocast, GraphBuilder& builder);

// An inlined graph has names of its own, which may clash with others: its inputs stand for the
// operands, and the rest is renamed. Other graphs keep their names.
enum class GraphNames { kKept, kRenamed };

class GraphReader {
 public:
  // `graph`, `place` and `builder` must outlive the reader.
  GraphReader(const JsonValue& graph, const Place& place, GraphNames names, GraphBuilder& builder,
              std::optional<Autocast> autocast = std::nullopt);

  const std::vector<Attribute>& inputs() const { return inputs_; }
  const std::vector<Attribute>& outputs() const { return outputs_; }

  // Throws ExportError if `name` is bound already.
  void bind(const std::string& name, Operand operand);
  void bind_value(const std::string& name, ValueId id);
  void add_input(InputKind kind, const std::string& name, const std::string& target = {});
  Operand resolve(const Attribute& port) const;

  // Adds all nodes to the builder's graph. Bind the inputs first.
  void read_nodes();

  // The class of the model: "torchvision.models.resnet.ResNet"; empty if the archive does not say.
  const std::string& root_class() const { return root_class_; }

 private:
  // A node in the archive's JSON; its arguments are read later, by kind of target.
  struct Call {
    std::string name;
    std::string target;
    const JsonValue::array_t& arguments;
    const Place& place;
    // Lists are flattened; nothing for None.
    std::vector<std::optional<std::string>> outputs;
    size_t first = 0;

    size_t size() const { return arguments.size() - first; }
    ObjectReader operator[](size_t index) const;
    // From the archive or the schema. Throws ExportError if neither has one.
    std::string argument_name(size_t index, const c10::FunctionSchema* schema) const;
  };

  void read_node(const JsonValue& json, const Place& place);
  void add(const Call& call);
  void add_operator(const Call& call);
  void add_node(const Call& call, Node node);
  void declare_dtypes(const Node& node, std::vector<Value>& outputs) const;
  std::string new_name(const std::string& name) const;
  std::string node_name(const Call& call, const Node& node,
                        const std::vector<Value>& outputs) const;

  const Operand& find(const std::string& name) const;
  const Value& value(const std::string& name) const;
  Operand read(const Call& call, size_t index) const;
  std::vector<Operand> read_list(const Call& call, size_t index) const;
  template <class T>
  T read_fixed(const Call& call, size_t index, const char* expected) const;
  std::vector<Argument> read_arguments(const Call& call) const;

  template <class Use>
  auto with_graph(const Call& call, size_t index, const Use& use) const;
  // The graph is argument `index`; its operands are the positional arguments from `first` on.
  void inline_graph(const Call& call, size_t index, size_t first,
                    const std::optional<Autocast>& autocast);
  bool has_tensors_on(const std::string& device, const Call& call, size_t index) const;
  std::optional<Autocast> autocast_of(const Call& call) const;

  // torch.set_grad_enabled changes no value.
  void inline_set_grad_enabled(const Call& call) { inline_graph(call, 1, 2, autocast_); }
  void inline_autocast(const Call& call) { inline_graph(call, 4, 5, autocast_of(call)); }
  // Argument 1 says which calls have the same graph.
  void inline_subgraph(const Call& call) { inline_graph(call, 0, 2, autocast_); }
  // Wrappers that say how to compile a graph or to save memory in training.
  void inline_call(const Call& call) { inline_graph(call, 0, 1, autocast_); }
  // An operator with effects. The order of nodes replaces its token.
  void inline_with_effects(const Call& call);
  void skip(const Call&) {}

  ValueList values_among(const std::vector<Operand>& operands) const;
  Graph read_branch(const Call& call, size_t index, const std::vector<Operand>& operands,
                    bool returns_outputs) const;
  void add_cond(const Call& call);
  void add_while_loop(const Call& call);
  void add_loop_over_slices(const Call& call);

  // Keeps a call that cannot run: values one by one, as no schema says which are lists; operators
  // by name; graphs. Says what is a dict or a nested list, but not for higher-order operators.
  void add_without_schema(const Call& call);
  void add_unnamed(const std::string& name, const JsonValue& value, const Place& place, Node& node);
  Graph read_inner_graph(const JsonValue& graph, const Place& place) const;

  struct Target;
  static const Target* find_special_target(std::string_view target);
  void reserve_names();

  const Place& place_;
  const Place nodes_place_ = place_.key("nodes");
  const JsonValue::array_t& nodes_;
  const GraphNames names_;
  GraphBuilder& builder_;
  const std::optional<Autocast> autocast_;
  std::vector<Attribute> inputs_;
  std::vector<Attribute> outputs_;
  std::unordered_map<std::string, Value> values_;
  std::unordered_map<std::string, Operand> operands_;
  // Preferred names for the values of an inlined graph.
  std::unordered_map<std::string, std::string> wishes_;
  std::string root_class_;
};

}  // namespace torch_ir
