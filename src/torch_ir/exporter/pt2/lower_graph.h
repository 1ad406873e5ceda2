// From graphs of archives to graphs of an ExportedProgram.
//
// Resolves names, names the arguments after the operators' schemas, inlines the wrappers
// (higher_order.cc) and makes casts of autocast explicit. Errors are ExportError and name the node.
#pragma once

#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "torch_ir/exporter/pt2/autocast.h"
#include "torch_ir/exporter/pt2/graph_builder.h"
#include "torch_ir/exporter/pt2/serialized_graph.h"

namespace torch_ir {

// Throws ExportError that names the targets in `graph`, and in the graphs inside it, that are not
// supported, and the nodes that have them.
void check_targets(const SerializedGraph& graph);

// Names of one archive graph, and what they stand for in the graph that is being built. The
// outermost graph keeps its names. A graph that is inlined has its own ones, which may be the same
// as others around it: its inputs stand for the operands, the rest is named anew.
class Scope {
 public:
  enum class Names { kKept, kRenamed };

  // `graph` must outlive the scope.
  Scope(const SerializedGraph& graph, Names names) : graph_(graph), names_(names) {}

  const SerializedGraph& graph() const { return graph_; }

  // From now on `name` stands for `operand`: a value of the graph that is being built, or fixed.
  // Throws ExportError when it stands for something already.
  void bind(const std::string& name, Attribute operand);
  // What the value called `name` is to be called when it is made; the first wish counts.
  void wish(const std::string& name, const std::string& wanted) { wishes_.emplace(name, wanted); }
  // What the value or node called `name` will be called in the graph that `builder` builds.
  std::string new_name(const std::string& name, GraphBuilder& builder) const;

  // What `name` stands for. Throws ExportError when nothing before has made it.
  const Attribute& find(const std::string& name) const;
  // What the archive says about the value. Throws ExportError when it says nothing.
  const ValueMeta& meta(const std::string& name) const;

  // What an argument stands for that may be one value, or what `role` says instead. Throws
  // ExportError for lists, graphs and operators.
  Attribute resolve_one(const SerializedValue& value, const char* role = "an argument") const;
  // The members of a list of values: tensors, numbers or both.
  std::vector<Attribute> resolve_list(const SerializedValue& value) const;

 private:
  const SerializedGraph& graph_;
  Names names_;
  std::unordered_map<std::string, Attribute> operands_;
  std::unordered_map<std::string, std::string> wishes_;
};

// Where nodes go, and what holds for them.
struct LoweringContext {
  Scope& scope;
  GraphBuilder& builder;
  AutocastDtype autocast = std::nullopt;
};

// Adds all nodes of `context.scope`'s graph, whose inputs are bound.
void lower_nodes(const LoweringContext& context);
void lower_node(const SerializedNode& node, const LoweringContext& context);

// Keeps the names of `graph` from being given to what is inlined into it.
void reserve_names(const SerializedGraph& graph, GraphBuilder& builder);

// --- Operators that run graphs: wrappers are inlined, control flow keeps its graphs ---

// torch.set_grad_enabled changes no value.
void inline_set_grad_enabled(const SerializedNode& node, const LoweringContext& context);
// torch.autocast, for the CPU; regions for other devices change nothing here.
void inline_autocast(const SerializedNode& node, const LoweringContext& context);
// An operator with effects, which a token keeps in order; the order of nodes does that here.
void inline_with_effects(const SerializedNode& node, const LoweringContext& context);

void lower_cond(const SerializedNode& node, const LoweringContext& context);
void lower_while_loop(const SerializedNode& node, const LoweringContext& context);

}  // namespace torch_ir
