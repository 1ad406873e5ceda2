// LoweredGraph: an IR with names resolved to numbers and operators to handles.
//
// `lower` makes one. It owns all its data and never changes afterwards, so any number of threads
// may run it; each run keeps its own values, but warnings are given once.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/operators/number_functions.h"
#include "torch_ir/operators/op_handler_registry.h"
#include "torch_ir/runtime/graph/bind_weights.h"
#include "torch_ir/runtime/graph/symbol_binder.h"

namespace torch_ir {

using ValueId = uint32_t;

struct LoweredValue {
  TensorMeta meta;
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

struct NumbersArgument {
  Attribute attribute;
  const c10::Argument* argument;
  // One for each of value_refs(attribute).
  std::vector<ValueId> values;
};

// An IValue is the same in every run.
using NodeArgument = std::variant<c10::IValue, ValueUse, ListArgument, NumbersArgument>;

struct LoweredGraph;

struct OpHandlerCall {
  OpHandler handler;
  OpNode node;
};

enum class ControlFlow { kCond, kWhileLoop };

// Runs the graphs of a condition (true, false) or of a loop (condition, body). The arguments are
// the operands of the graphs; a condition's predicate comes first.
struct ControlFlowCall {
  ControlFlow kind;
  std::vector<LoweredGraph> graphs;
};

struct LoweredNode {
  std::string name;
  std::string op_type;
  // Operators and number functions take the arguments of their schema, op handlers one for each of
  // OpNode::inputs.
  std::variant<c10::OperatorHandle, NumberFunction, std::shared_ptr<const OpHandlerCall>,
               ControlFlowCall>
      callee;
  std::vector<NodeArgument> arguments;
  std::vector<ValueId> outputs;

  // Set by `lower`: the outputs that nothing reads, and whether the stack holds the results one by
  // one, as in `outputs`.
  std::vector<ValueId> unread;
  bool returns_values = false;
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
  c10::Device device = c10::kCPU;
  // Symbolic sizes; empty for the graphs of control flow.
  SymbolBinder symbols;
  std::vector<LoweredValue> values;
  std::vector<LoweredNode> nodes;
  std::vector<GraphPort> inputs;
  std::vector<GraphPort> outputs;
  // Whether any input or constant is written to. Set by `lower`.
  bool writes_in_place = false;
  // What runs have warned of; null if it is an error.
  std::shared_ptr<DifferingValues> differing = std::make_shared<DifferingValues>();
};

// How to treat nodes whose operator this process cannot run (operator_support): kKeep keeps them,
// for graphs that are only analyzed; running them throws.
enum class Unsupported { kRefuse, kKeep };

// Throws ExecutionError, naming the node, for a missing weight or an operator that is unknown or
// refused (operator_table.h), and ValidationError for arguments that do not fit the operator.
LoweredGraph build_graph(const IR& ir, const BoundWeights& weights,
                         Unsupported unsupported = Unsupported::kRefuse);

// The values that may share memory or be written in place. A run uses it to keep weights,
// constants and inputs intact.
struct AliasAnalysis {
  std::vector<bool> is_written;
  std::vector<bool> may_be_constant;
  // Equal for values that may share memory.
  std::vector<size_t> memory;
  std::vector<std::vector<ValueId>> writes;
};

// Conservative, as it uses only the schemas: values that it says share memory may not (`reshape`
// copies if it has to), but never the reverse.
AliasAnalysis analyze_aliases(const LoweredGraph& graph);

// The first half of compile, with its arguments and errors: a graph that is ready to run.
LoweredGraph lower(const IR& ir, const StateDict& weights, const StateDict& constants = StateDict(),
                   std::optional<c10::Device> device = std::nullopt);

// Visits values in order, as often as they are read.
void visit_values(const NodeArgument& argument, c10::function_ref<void(ValueId)> visit);
void visit_values(const LoweredNode& node, c10::function_ref<void(ValueId)> visit);

}  // namespace torch_ir
