// LoweredGraph: the graph as the executor has it, with names turned into numbers and operators into
// handles.
//
// `lower` makes one of an IR. It owns all that it needs, and never changes from then on, so any
// number of threads may run it at once: what a run changes are its values, one for each of the
// graph's.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "torch_ir/executor/graph/bind_weights.h"
#include "torch_ir/executor/graph/symbol_binder.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/operators/executor_registry.h"
#include "torch_ir/operators/number_functions.h"

namespace torch_ir {

// Index into LoweredGraph::values.
using ValueId = uint32_t;

struct LoweredValue {
  // As the IR has it. Of a constant no more than the name, which is empty where it has none.
  TensorMeta meta;
  // A weight, a lifted constant, or a number given where the operator takes a tensor. Undefined
  // for what only a run knows: inputs and outputs of nodes.
  at::Tensor constant;

  // The others are set by `lower`. Whether anybody reads it.
  bool is_read = false;
  // Whether a run writes to its memory, and so needs a copy of an input or a constant.
  bool is_written = false;
  // Whether it may be a constant that no run writes to, or a view of one.
  bool may_be_constant = false;

  // Whether it is the same tensor in every run.
  bool is_fixed() const { return constant.defined() && !is_written; }
};

// A value that an argument is.
struct ValueUse {
  ValueId value;
  // Whether nobody reads the value after, so that it may leave the run. Set by `lower`.
  bool is_last = false;
};

// Tensors that are one argument. An item is a value, or what is the same in every run: None, and a
// constant once `lower` has put it there.
struct ListArgument {
  std::vector<std::variant<c10::IValue, ValueUse>> items;
  // Whether the schema says `Tensor?[]`.
  bool holds_none = false;
};

// An attribute that holds numbers which only a run knows.
struct NumbersArgument {
  Attribute attribute;
  const c10::Argument* argument;
  // One for each of value_refs(attribute).
  std::vector<ValueId> values;
};

// What a node passes to its operator: something that is the same in every run, a value, or several.
using NodeArgument = std::variant<c10::IValue, ValueUse, ListArgument, NumbersArgument>;

struct LoweredGraph;

// A registered executor and the node that it gets to see.
struct ExecutorCall {
  OpExecutor executor;
  OpNode node;
};

enum class ControlFlow { kCond, kWhileLoop };

// Runs graphs instead of an operator: those of a condition (true, false) or of a loop (condition,
// body). Its arguments are the values that the graphs take; of a condition, what decides first.
struct ControlFlowCall {
  ControlFlow kind;
  std::vector<LoweredGraph> graphs;
};

struct LoweredNode {
  std::string name;
  std::string op_type;
  // An operator of the dispatcher or a function on numbers, with one argument for each of its
  // schema's, or a registered executor with one for each of OpNode::inputs, or control flow.
  std::variant<c10::OperatorHandle, NumberFunction, std::shared_ptr<const ExecutorCall>,
               ControlFlowCall>
      callee;
  std::vector<NodeArgument> arguments;
  std::vector<ValueId> outputs;

  // Set by `lower`: those of `outputs` that nobody reads, and whether the results lie on the stack
  // one by one, as `outputs` has them.
  std::vector<ValueId> unread;
  bool returns_values = false;
};

// A value that the caller gives or gets.
struct GraphPort {
  ValueId value;
  c10::ScalarType dtype;
};

struct LoweredGraph {
  c10::Device device = c10::kCPU;
  // Of the sizes that differ from run to run; none for the graphs of control flow.
  SymbolBinder symbols;
  std::vector<LoweredValue> values;
  std::vector<LoweredNode> nodes;
  std::vector<GraphPort> inputs;
  std::vector<GraphPort> outputs;
  // Whether any input or constant is written to. Set by `lower`.
  bool writes_in_place = false;
};

// The graph of `ir`. Throws ExecutionError, naming the node, for a weight that nobody supplies, for
// an operator that this process does not have or that is refused (operator_table.h), and
// ValidationError for arguments that do not fit the operator.
LoweredGraph build_graph(const IR& ir, const BoundWeights& weights);

// Which values of a graph may share memory, and which may be written in place. A run needs it to
// leave weights, constants and inputs as they are.
struct AliasAnalysis {
  // For each value whether its memory may be written by a node.
  std::vector<bool> is_written;
  // For each value whether its memory may be that of a constant.
  std::vector<bool> may_be_constant;
  // For each value a number, the same for those that may share memory.
  std::vector<size_t> memory;
  // For each node the values that it may write to.
  std::vector<std::vector<ValueId>> writes;
};

// Told from the schemas of the operators, so always on the safe side: what is called shared may
// turn out not to be (`reshape` copies when it has to), never the other way round.
AliasAnalysis analyze_aliases(const LoweredGraph& graph);

// The first half of compile, whose arguments and errors these are: the graph with all that a run
// has to know.
LoweredGraph lower(const IR& ir, const StateDict& weights, const StateDict& constants = StateDict(),
                   std::optional<c10::Device> device = std::nullopt);

// Calls `visit` with the values that an argument, or all arguments of a node, are made of; in
// order, and as often as they are read.
void visit_values(const NodeArgument& argument, c10::function_ref<void(ValueId)> visit);
void visit_values(const LoweredNode& node, c10::function_ref<void(ValueId)> visit);

}  // namespace torch_ir
