#include "torch_ir/executor/run.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/List.h>
#include <ATen/core/grad_mode.h>
#include <c10/util/SmallVector.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/executor/memory_overlap.h"
#include "torch_ir/executor/program.h"
#include "torch_ir/executor/tensor_text.h"
#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

using Frame = c10::SmallVector<c10::IValue, 64>;
using Stack = std::vector<c10::IValue>;

void check_input(const Program& program, const ProgramInput& expected, const at::Tensor& input) {
  const auto fail = [&](const std::string& what) {
    throw ExecutionError(fmt::format("Input '{}' {}.", expected.name, what));
  };
  if (!input.defined()) fail("is undefined");
  const std::string difference = describe_difference(input, expected.shape, expected.dtype);
  if (!difference.empty()) fail("has " + difference);
  if (input.device() != program.device) {
    fail(fmt::format("is on {}, expected {}", input.device().str(), program.device.str()));
  }
}

void check_inputs(const Program& program, const std::vector<at::Tensor>& inputs) {
  if (inputs.size() != program.inputs.size()) {
    throw ExecutionError(fmt::format("The graph takes {} input(s), but {} were given.",
                                     program.inputs.size(), inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) check_input(program, program.inputs[i], inputs[i]);
}

void store(Frame& frame, Slot slot, c10::IValue value) {
  if (slot != kNoSlot) frame[slot] = std::move(value);
}

// What a run writes to is copied, together with what shares its memory: an input that was passed
// twice stays one tensor.
void store_copies(const Program& program, const std::vector<at::Tensor>& inputs, Frame& frame) {
  std::vector<at::Tensor> tensors(inputs);
  for (const WrittenConstant& constant : program.written_constants) {
    tensors.push_back(constant.tensor);
  }
  const std::vector<size_t> groups = overlap_groups(tensors);
  std::map<size_t, std::vector<size_t>> members;
  for (size_t i = 0; i < tensors.size(); ++i) members[groups[i]].push_back(i);
  const auto is_written = [&](size_t i) {
    return i >= inputs.size() || program.inputs[i].is_written;
  };
  const auto slot = [&](size_t i) {
    return i < inputs.size() ? program.inputs[i].slot
                             : program.written_constants[i - inputs.size()].slot;
  };
  for (const auto& [group, indices] : members) {
    std::vector<at::Tensor> originals;
    for (const size_t i : indices) originals.push_back(tensors[i]);
    const bool is_copied = std::any_of(indices.begin(), indices.end(), is_written);
    const std::vector<at::Tensor> values = is_copied ? copy_group(originals) : originals;
    for (size_t k = 0; k < indices.size(); ++k) store(frame, slot(indices[k]), values[k]);
  }
}

void store_inputs(const Program& program, const std::vector<at::Tensor>& inputs, Frame& frame) {
  if (program.writes_in_place) {
    store_copies(program, inputs, frame);
    return;
  }
  for (size_t i = 0; i < inputs.size(); ++i) store(frame, program.inputs[i].slot, inputs[i]);
}

c10::IValue take(Frame& frame, const SlotUse& use) {
  if (use.is_last) return std::move(frame[use.slot]);
  return frame[use.slot];
}

template <class Element>
c10::IValue make_list(const StackList& description, Frame& frame) {
  c10::List<Element> list;
  list.reserve(description.items.size());
  for (const StackList::Item& item : description.items) {
    if (const auto* use = std::get_if<SlotUse>(&item)) {
      list.push_back(take(frame, *use).toTensor());
    } else if (const auto* tensor = std::get_if<at::Tensor>(&item)) {
      list.push_back(*tensor);
    } else {
      list.push_back(Element());
    }
  }
  return list;
}

void fill_stack(const Step& step, Frame& frame, Stack& stack) {
  stack.assign(step.arguments.begin(), step.arguments.end());
  for (const StackFill& fill : step.fills) stack[fill.position] = take(frame, fill.use);
  for (const StackList& list : step.lists) {
    stack[list.position] = list.holds_none ? make_list<std::optional<at::Tensor>>(list, frame)
                                           : make_list<at::Tensor>(list, frame);
  }
}

// Replaces the inputs on the stack by the outputs.
void call_executor(const ExecutorCall& call, Stack& stack) {
  std::vector<at::Tensor> inputs;
  inputs.reserve(stack.size());
  for (c10::IValue& value : stack) inputs.push_back(std::move(value).toTensor());
  stack.clear();
  for (at::Tensor& output : call.executor(call.node, inputs)) stack.emplace_back(std::move(output));
}

void append_tensors(const c10::IValue& value, std::vector<at::Tensor>& tensors) {
  if (value.isTensor()) {
    tensors.push_back(value.toTensor());
  } else if (value.isTensorList() || value.isList()) {
    for (const c10::IValue& item : value.toListRef()) append_tensors(item, tensors);
  }
}

std::vector<at::Tensor> tensors_of(const Stack& stack) {
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& value : stack) append_tensors(value, tensors);
  return tensors;
}

// The outputs of a node are the tensors that its operator returns, those in lists one by one. Where
// the graph leaves out the undefined ones, so does this.
void store_tensors(const Step& step, const Stack& stack, Frame& frame) {
  std::vector<at::Tensor> tensors = tensors_of(stack);
  if (tensors.size() != step.outputs.size()) {
    std::erase_if(tensors, [](const at::Tensor& tensor) { return !tensor.defined(); });
  }
  if (tensors.size() != step.outputs.size()) {
    throw ExecutionError(fmt::format("it returned {} tensor(s), the graph says {}", tensors.size(),
                                     step.outputs.size()));
  }
  for (size_t i = 0; i < tensors.size(); ++i) store(frame, step.outputs[i], std::move(tensors[i]));
}

void call(const Step& step, Stack& stack) {
  if (const auto* op = std::get_if<c10::OperatorHandle>(&step.callee)) {
    op->callBoxed(stack);
  } else if (const auto* kernel = std::get_if<Kernel>(&step.callee)) {
    (*kernel)(stack);
  } else {
    call_executor(*std::get<std::shared_ptr<const ExecutorCall>>(step.callee), stack);
  }
}

void run_step(const Step& step, Frame& frame, Stack& stack) {
  fill_stack(step, frame, stack);
  call(step, stack);
  if (!step.returns_tensors) {
    store_tensors(step, stack, frame);
    return;
  }
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    store(frame, step.outputs[i], std::move(stack[i]));
  }
}

// The arguments of a call that threw are still on the stack.
std::string failure_text(const Step& step, const Stack& stack, const std::exception& error) {
  std::string shapes;
  for (const at::Tensor& tensor : tensors_of(stack)) {
    if (!shapes.empty()) shapes += ", ";
    shapes += tensor.defined() ? shape_list_text(tensor.sizes()) : "None";
  }
  return fmt::format("Node '{}' ({}) failed on inputs of shape {}: {}", step.name, step.op_type,
                     shapes.empty() ? "()" : shapes, message_text(error));
}

bool shares_memory(const at::Tensor& a, const at::Tensor& b) {
  return a.is_same(b) || (a.has_storage() && b.has_storage() && a.is_alias_of(b));
}

// Replaces outputs that are constants of the plan, or views of one, by copies, so that a caller who
// writes to them does not change the plan. Outputs that were the same tensor stay one.
void keep_constants(const Program& program, std::vector<at::Tensor>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!program.outputs[i].may_be_constant) continue;
    const at::Tensor value = outputs[i];
    const bool is_constant =
        std::any_of(program.constants.begin(), program.constants.end(),
                    [&](const at::Tensor& constant) { return shares_memory(value, constant); });
    if (!is_constant) continue;
    const at::Tensor copy = value.clone();
    for (at::Tensor& output : outputs) {
      if (output.is_same(value)) output = copy;
    }
  }
}

// Throws when an output of the step that just ran is not what the IR says.
void check_outputs(const Step& step, const std::vector<TensorMeta>& expected, const Frame& frame) {
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i] == kNoSlot) continue;
    const at::Tensor& output = frame[step.outputs[i]].toTensor();
    const TensorMeta& meta = expected[i];
    if (!output.defined()) continue;
    if (output.sizes() == meta.shape && output.scalar_type() == parse_dtype(meta.dtype)) continue;
    throw ExecutionError(
        fmt::format("node '{}' ({}): output '{}' is {} {}, but the IR says {} {}", step.name,
                    step.op_type, meta.name, dtype_name(output.scalar_type()),
                    shape_list_text(output.sizes()), meta.dtype, shape_list_text(meta.shape)));
  }
}

void run_named_step(const Step& step, Frame& frame, Stack& stack) {
  try {
    run_step(step, frame, stack);
  } catch (const std::exception& error) {
    throw ExecutionError(failure_text(step, stack, error));
  }
}

template <bool is_checked>
void run_steps(const Program& program, Frame& frame) {
  Stack stack;
  stack.reserve(program.stack_size);
  for (size_t i = 0; i < program.steps.size(); ++i) {
    run_named_step(program.steps[i], frame, stack);
    if constexpr (is_checked) check_outputs(program.steps[i], program.step_outputs[i], frame);
  }
}

template <bool is_checked>
std::vector<at::Tensor> run_all(const Program& program, const std::vector<at::Tensor>& inputs) {
  check_inputs(program, inputs);
  // The kernels that InferenceMode would run, and as fast; but its tensors could not be written in
  // place by the caller.
  const at::NoGradGuard no_grad;
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  Frame frame(program.num_slots);
  store_inputs(program, inputs, frame);
  run_steps<is_checked>(program, frame);
  std::vector<at::Tensor> outputs;
  outputs.reserve(program.outputs.size());
  for (const ProgramOutput& output : program.outputs) {
    outputs.push_back(output.constant.defined() ? output.constant : frame[output.slot].toTensor());
  }
  keep_constants(program, outputs);
  return outputs;
}

}  // namespace

std::vector<at::Tensor> run_program(const Program& program, const std::vector<at::Tensor>& inputs) {
  return run_all<false>(program, inputs);
}

std::vector<at::Tensor> run_program_checked(const Program& program,
                                            const std::vector<at::Tensor>& inputs) {
  return run_all<true>(program, inputs);
}

}  // namespace torch_ir
