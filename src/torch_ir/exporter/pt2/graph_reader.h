// Reading one graph of an archive into an ExportedGraph.
//
// Resolves names, names the arguments after the operators' schemas, inlines the wrappers
// (higher_order.cc) and makes casts of autocast explicit. Nothing of the JSON is kept but the
// shapes of values. Errors are SerializationError and name the place, or ExportError and name the
// node.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "torch_ir/exporter/pt2/archive_argument.h"
#include "torch_ir/exporter/pt2/autocast.h"
#include "torch_ir/exporter/pt2/graph_builder.h"

namespace torch_ir {

struct ArchiveNode {
  struct Argument {
    // The name in the operator's schema; empty where the archive leaves it to the position.
    std::string name;
    ArchiveArgument value;
  };

  std::string name;
  std::string target;
  std::vector<Argument> arguments;
  // In order, members of lists in a row; nothing for None.
  NameList outputs;
  // Where the JSON of the node is.
  const Place* place = nullptr;
};

// What a name of an archive stands for: a value of the graph that is being built, or fixed.
using Operand = std::variant<ValueId, Attribute>;

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

  // From now on `name` stands for `operand`. Throws ExportError when it stands for something
  // already.
  void bind(const std::string& name, Operand operand);
  // What the archive says about the value. Throws ExportError when it says nothing.
  const ExportedValue& value(const std::string& name) const;
  // What `attribute` stands for: references in it are to values of the archive.
  Operand resolve(const Attribute& attribute) const;

  // Adds all nodes to the builder's graph; the inputs are bound.
  void read_nodes();

  // The class of the model that the nodes are part of: "torchvision.models.resnet.ResNet"; empty
  // where the archive does not tell.
  const std::string& root_class() const { return root_class_; }

 private:
  // --- Nodes ---
  ArchiveNode read_node(const JsonValue& json, const Place& place);
  void add(const ArchiveNode& node);
  void add_operator(const ArchiveNode& node);
  // `lowered` without name and outputs, which are those of `node`.
  void add_node(const ArchiveNode& node, ExportedNode lowered);
  std::string new_name(const std::string& name) const;
  std::string node_name(const ArchiveNode& node, const ExportedNode& lowered,
                        const std::vector<ExportedValue>& outputs) const;

  // --- Arguments ---
  const Operand& find(const std::string& name) const;
  Operand resolve_one(const ArchiveArgument& argument) const;
  // The members of a list of values: tensors, numbers or both.
  std::vector<Operand> resolve_list(const ArchiveArgument& argument) const;
  Attribute as_attribute(const Operand& operand) const;
  // Numbers are attributes, whichever kind of argument the archive refers to them by.
  decltype(ExportedArgument::value) as_argument(const Operand& operand) const;
  decltype(ExportedArgument::value) resolve_argument(const ArchiveArgument& argument) const;
  decltype(ExportedArgument::value) resolve_names(const NameList& names) const;
  std::vector<ExportedArgument> resolve_arguments(const ArchiveNode& node) const;

  // --- Operators that run graphs: wrappers are inlined, control flow keeps its graphs ---

  // Calls `use(json, place)` with the graph that is argument `index`.
  template <class Use>
  auto with_graph(const ArchiveNode& node, size_t index, const Use& use) const;
  std::vector<Operand> operands_from(const ArchiveNode& node, size_t first) const;
  void inline_graph(const ArchiveNode& node, size_t index, AutocastDtype autocast);
  AutocastDtype autocast_of(const ArchiveNode& node) const;

  // torch.set_grad_enabled changes no value.
  void inline_set_grad_enabled(const ArchiveNode& node) { inline_graph(node, 1, autocast_); }
  // torch.autocast, for the CPU; regions for other devices change nothing here.
  void inline_autocast(const ArchiveNode& node) { inline_graph(node, 4, autocast_of(node)); }
  // An operator with effects, which a token keeps in order; the order of nodes does that here.
  void inline_with_effects(const ArchiveNode& node);
  void skip(const ArchiveNode&) {}

  ExportedGraph read_branch(const ArchiveNode& node, size_t index,
                            const std::vector<Operand>& operands, bool returns_outputs) const;
  void add_cond(const ArchiveNode& node);
  void add_while_loop(const ArchiveNode& node);

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
