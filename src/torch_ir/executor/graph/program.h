// Program: what a run of a plan reads, and all it reads.
//
// Made once by lower() and never changed after, so any number of threads may run it at once. What a
// run changes is in its slots: one for each value that is alive, used again when it is not.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "torch_ir/executor/graph/symbol_binder.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/operators/executor_registry.h"

namespace torch_ir {

// Index into the slots of a run.
using Slot = uint32_t;
inline constexpr Slot kNoSlot = UINT32_MAX;

// A value on its way out of its slot and into a step.
struct SlotUse {
  Slot slot = kNoSlot;
  // Whether nobody reads the value after, so that it may leave its slot.
  bool is_last = false;
};

// Puts a value at a place of the stack.
struct StackFill {
  uint32_t position;
  SlotUse use;
};

// Puts a list at a place of the stack. An item is a value in a slot, a fixed tensor, or None.
struct StackList {
  using Item = std::variant<std::monostate, SlotUse, at::Tensor>;
  uint32_t position;
  std::vector<Item> items;
  bool holds_none;
};

// Puts an attribute at a place of the stack, after the numbers it refers to.
struct StackNumbers {
  uint32_t position;
  Attribute attribute;
  const c10::Argument* argument;
  std::unordered_map<std::string, Slot> slots;
};

// A registered executor and the node that it gets to see.
struct ExecutorCall {
  OpExecutor executor;
  OpNode node;
};

// Takes its arguments from the stack and leaves its results there, as an operator called boxed.
using Kernel = void (*)(std::vector<c10::IValue>& stack);

enum class ControlFlow { kCond, kWhileLoop };

struct ControlFlowCall;

// One call.
struct Step {
  std::string name;
  std::string op_type;
  std::variant<c10::OperatorHandle, Kernel, std::shared_ptr<const ExecutorCall>,
               std::shared_ptr<const ControlFlowCall>>
      callee;
  // The argument stack as far as it is the same in every run; None where a value goes.
  std::vector<c10::IValue> arguments;
  std::vector<StackFill> fills;
  std::vector<StackList> lists;
  std::vector<StackNumbers> numbers;
  // Where the results go; kNoSlot for those that nobody reads.
  std::vector<Slot> outputs;
  // Whether the results lie on the stack one by one, as `outputs` has them.
  bool returns_values = false;
};

struct ProgramInput {
  TensorMeta meta;
  c10::ScalarType dtype;
  Slot slot = kNoSlot;
  // Whether a run writes to it, and so needs a copy.
  bool is_written = false;
};

// A weight or constant that a run writes to.
struct WrittenConstant {
  at::Tensor tensor;
  Slot slot = kNoSlot;
};

struct ProgramOutput {
  std::string name;
  c10::ScalarType dtype;
  Slot slot = kNoSlot;
  // Where it is a constant that no run writes to.
  at::Tensor constant;
  // Whether it may be a view of one.
  bool may_be_constant = false;
};

struct Program {
  c10::Device device = c10::kCPU;
  // Of the sizes that differ from run to run.
  SymbolBinder symbols;
  size_t num_slots = 0;
  // The most arguments that a step has.
  size_t stack_size = 0;
  std::vector<ProgramInput> inputs;
  std::vector<WrittenConstant> written_constants;
  // Whether any input or constant is written to.
  bool writes_in_place = false;
  std::vector<Step> steps;
  // What the IR says of the outputs of each step. Apart from the steps, since only a checked run
  // reads it.
  std::vector<std::vector<TensorMeta>> step_outputs;
  std::vector<ProgramOutput> outputs;
  // The constants that no run writes to.
  std::vector<at::Tensor> constants;
};

// The programs of a condition (true, false), or of a loop (condition, body).
struct ControlFlowCall {
  ControlFlow kind;
  std::vector<Program> programs;
};

}  // namespace torch_ir
