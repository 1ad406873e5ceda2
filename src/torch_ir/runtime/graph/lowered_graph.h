// LoweredGraph: what a run needs besides the program: operators as handles, constants, a device.
//
// `lower` makes one. It never changes afterwards, so any number of threads may run it; each run
// keeps its own values, but warnings are given once.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <c10/util/FunctionRef.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

#include "torch_ir/ir/program.h"
#include "torch_ir/operators/number_functions.h"
#include "torch_ir/operators/op_handler_registry.h"
#include "torch_ir/runtime/graph/case.h"
#include "torch_ir/runtime/graph/graph_memory.h"
#include "torch_ir/runtime/graph/symbol_binder.h"

namespace torch_ir {

struct LoweredValue {
  // Null for a number given as a tensor argument, which the program does not number.
  const Value* declared = nullptr;
  // A weight, a lifted constant, or a number given as a tensor argument. Undefined for inputs and
  // outputs of nodes.
  at::Tensor constant;

  // The members below are set by `lower`.
  bool is_read = false;
  // Whether a run writes to its memory, and so must copy an input or a constant.
  bool is_written = false;
  // Whether it may be a constant that no run writes to, or a view of one.
  bool may_be_constant = false;

  bool is_fixed() const { return constant.defined() && !is_written; }
  bool is_scalar() const { return declared != nullptr && declared->is_scalar; }
};

struct ValueUse {
  ValueId value;
  // Whether this is the last read, so that the run can drop the value. Set by `lower`.
  bool is_last = false;
};

// A list argument. An item is a value or, if it is the same in every run, an IValue: None, or a
// constant put there by `lower`.
struct ListArgument {
  std::vector<std::variant<c10::IValue, ValueUse>> items;
  // Whether the schema says `Tensor?[]`.
  bool holds_none = false;
};

// An attribute that refers to numbers: `given->numbers`.
struct NumbersArgument {
  const Argument* given;
  const c10::Argument* argument;
};

// An IValue is the same in every run.
using NodeArgument = std::variant<c10::IValue, ValueUse, ListArgument, NumbersArgument>;

struct LoweredGraph;

struct OpHandlerCall {
  OpHandler handler;
  // As the handler expects it.
  OpNode node;
};

enum class ControlFlow { kCond, kWhileLoop, kLoopOverSlices };

// Runs the graphs of a condition (true, false), of a loop (condition, body) or of a loop over
// slices (body). The arguments are the operands of the graphs; a condition's predicate comes first.
struct ControlFlowCall {
  ControlFlow kind;
  std::vector<LoweredGraph> graphs;
  // Of a loop over slices: how many operands are carried from slice to slice, and how many after
  // them are sliced.
  size_t num_carried = 0;
  size_t num_sliced = 0;
};

struct LoweredNode {
  // Of the program; its outputs have the same numbers.
  const Node* source = nullptr;
  // Operators and number functions take the arguments of their schema, op handlers one for each of
  // OpNode::inputs.
  std::variant<c10::OperatorHandle, NumberFunction, std::shared_ptr<const OpHandlerCall>,
               ControlFlowCall>
      callee;
  std::vector<NodeArgument> arguments;

  // Set by `lower`: the outputs that nothing reads, and whether the stack holds the results one by
  // one, as in `outputs`.
  std::vector<ValueId> unread;
  bool returns_values = false;

  const std::string& name() const { return source->name; }
  const std::string& op_type() const { return source->target; }
  const std::vector<ValueId>& outputs() const { return source->outputs; }
};

struct GraphPort {
  ValueId value;
  c10::ScalarType dtype;
};

// The values that runs have found to differ from the IR, shared by the threads that run a graph.
class DifferingValues {
 public:
  // Adds `values`, which `node` makes. Returns whether this is the first time and no value that
  // `node` reads differs, which would explain it.
  bool add(const LoweredNode& node, const std::vector<ValueId>& values);

 private:
  std::mutex mutex_;
  std::unordered_set<ValueId> values_;
};

struct LoweredGraph {
  // Keeps `source` alive, which is the program or a graph in it.
  std::shared_ptr<const Program> program;
  const Graph* source = nullptr;
  c10::Device device = c10::kCPU;
  // Symbolic sizes; empty for the graphs of control flow.
  SymbolBinder symbols;
  // Those of `source`, under the same numbers, then numbers given as tensor arguments.
  std::vector<LoweredValue> values;
  // One for each of `source`.
  std::vector<LoweredNode> nodes;
  // The user inputs.
  std::vector<GraphPort> inputs;
  std::vector<GraphPort> outputs;
  GraphMemory memory;
  // Whether any input or constant is written to. Set by `lower`.
  bool writes_in_place = false;
  // What runs have warned of; null if it is an error.
  std::shared_ptr<DifferingValues> differing = std::make_shared<DifferingValues>();
};

// How to treat nodes whose operator this process cannot run (operator_support): kKeep keeps them,
// for graphs that are only analyzed; running them throws.
enum class Unsupported { kRefuse, kKeep };

// The first half of compile: a graph that is ready to run. Looks for weights as bind_weights does.
// Throws ExecutionError, naming the node, for a missing weight or an operator that is unknown or
// refused (operator_table.h).
LoweredGraph lower(const Case& graph_case, std::optional<c10::Device> device = std::nullopt,
                   Unsupported unsupported = Unsupported::kRefuse);

// To analyze what operators do: without constants, and with kKeep. `program` outlives the result.
LoweredGraph lower_without_weights(const Program& program);

// Visits values in order, as often as they are read.
void visit_values(const NodeArgument& argument, c10::function_ref<void(ValueId)> visit);
void visit_values(const LoweredNode& node, c10::function_ref<void(ValueId)> visit);

}  // namespace torch_ir
