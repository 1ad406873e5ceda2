// From graphs of archives to graphs of an ExportedProgram.
//
// Resolves names, names the arguments after the operators' schemas, inlines the wrappers
// (higher_order.h) and makes casts of autocast explicit. Errors are ExportError and name the node.
#pragma once

#include "torch_ir/exporter/pt2/autocast.h"
#include "torch_ir/exporter/pt2/graph_builder.h"
#include "torch_ir/exporter/pt2/scope.h"
#include "torch_ir/exporter/pt2/serialized_graph.h"

namespace torch_ir {

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

}  // namespace torch_ir
