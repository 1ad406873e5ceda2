// PlanGraph: an IR on its way to a plan, with names turned into numbers and operators into handles.
//
// Made once by build_graph; the passes of compile read it, and lower.h turns it into a program.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "torch_ir/executor/graph/bind_weights.h"
#include "torch_ir/executor/graph/program.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/operators/executor_registry.h"
#include "torch_ir/operators/number_functions.h"

namespace torch_ir {

// Index into PlanGraph::values.
using ValueId = uint32_t;

struct PlanValue {
  // As the IR has it; empty for a value that no name stands for.
  std::string_view name;
  // A weight, a lifted constant, or a number given where the operator takes a tensor. Undefined
  // for what only a run knows: inputs and outputs of nodes.
  at::Tensor constant;
};

// Values that are one argument; nothing where the list holds None.
struct PlanList {
  std::vector<std::optional<ValueId>> values;
  // Whether the schema says `Tensor?[]`.
  bool holds_none = false;
};

// An attribute that holds numbers which only a run knows.
struct PlanNumbers {
  const Attribute* attribute;
  const c10::Argument* argument;
  // One for each of value_refs(*attribute).
  std::vector<ValueId> values;
};

// What a node passes to its operator: something fixed that is no tensor, a value, or several.
using PlanArgument = std::variant<c10::IValue, ValueId, PlanList, PlanNumbers>;

struct PlanGraph;

// Runs graphs instead of an operator. Its arguments are the values that the graphs take; of a
// condition, what decides first.
struct PlanControlFlow {
  ControlFlow kind;
  std::vector<PlanGraph> graphs;
};

struct PlanNode {
  // The node of the IR that the graph was built from.
  const OpNode* source = nullptr;
  // An operator of the dispatcher or a function on numbers, with one argument for each of its
  // schema's, or a registered executor with one for each of OpNode::inputs, or control flow.
  std::variant<c10::OperatorHandle, OpExecutor, NumberFunction, PlanControlFlow> callee;
  std::vector<PlanArgument> arguments;
  std::vector<ValueId> outputs;
};

struct PlanGraph {
  // The graph that this one was built from.
  const Graph* source = nullptr;
  std::vector<PlanValue> values;
  std::vector<PlanNode> nodes;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  c10::Device device = c10::kCPU;
};

// The graph of `ir`, which it points into. Throws ExecutionError, naming the node, for a weight
// that nobody supplies, for an operator that this process does not have or that is refused
// (operator_table.h), and ValidationError for arguments that do not fit the operator.
PlanGraph build_graph(const IR& ir, const BoundWeights& weights);

// Calls `visit` with the values that an argument, or all arguments of a node, are made of; in
// order, and as often as they are read.
void visit_values(const PlanArgument& argument, c10::function_ref<void(ValueId)> visit);
void visit_values(const PlanNode& node, c10::function_ref<void(ValueId)> visit);
// The same as a list.
std::vector<ValueId> values_of(const PlanNode& node);

}  // namespace torch_ir
