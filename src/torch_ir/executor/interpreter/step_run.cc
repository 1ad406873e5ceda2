#include "torch_ir/executor/interpreter/step_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/executor/graph/memory_overlap.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/tensor_text.h"

namespace torch_ir {
namespace {

// What a run writes to is copied, together with what shares its memory: an input that was passed
// twice stays one tensor.
void store_copies(const Program& program, const Stack& inputs, Slots& slots) {
  // Numbers have no memory: undefined tensors stand in for them.
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& input : inputs) {
    tensors.push_back(input.isTensor() ? input.toTensor() : at::Tensor());
  }
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
    for (size_t k = 0; k < indices.size(); ++k) store(slots, slot(indices[k]), values[k]);
  }
}

void store_inputs(const Program& program, const Stack& inputs, Slots& slots) {
  if (program.writes_in_place) {
    store_copies(program, inputs, slots);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].isTensor()) store(slots, program.inputs[i].slot, inputs[i]);
    }
    return;
  }
  for (size_t i = 0; i < inputs.size(); ++i) store(slots, program.inputs[i].slot, inputs[i]);
}

[[noreturn]] void fail(const Step& step, const TensorMeta& meta, const std::string& what) {
  throw ExecutionError(fmt::format("node '{}' ({}): output '{}' is {}", printable(step.name),
                                   printable(step.op_type), printable(meta.name), what));
}

void bind(const TensorMeta& meta, const c10::IValue& value, SymbolValues& symbols) {
  if (const auto symbol = SymExpr::parse(meta.expression).as_symbol()) {
    symbols.emplace(*symbol, value.toInt());
  }
}

}  // namespace

StepRun::StepRun(const Program& program, const Stack& inputs, SymbolValues* symbols)
    : program_(program), symbols_(symbols), slots_(program.num_slots) {
  store_inputs(program, inputs, slots_);
  stack_.reserve(program.stack_size);
}

void StepRun::advance() {
  run_step(program_.steps[next_step_], slots_, stack_,
           [this](const Program& program, Stack values) { return run_inner(program, values); });
  ++next_step_;
  if (symbols_ != nullptr) check_results();
}

std::vector<c10::IValue> StepRun::run_inner(const Program& program, const Stack& inputs) const {
  // What depends on data may be another number in each iteration of a loop.
  SymbolValues symbols;
  if (symbols_ != nullptr) symbols = *symbols_;
  StepRun run(program, inputs, symbols_ == nullptr ? nullptr : &symbols);
  while (!run.is_done()) run.advance();
  return run.outputs();
}

c10::IValue StepRun::result(size_t index) const {
  const Slot slot = program_.steps[next_step_ - 1].outputs.at(index);
  return slot == kNoSlot ? c10::IValue() : slots_[slot];
}

std::vector<c10::IValue> StepRun::outputs() const {
  std::vector<c10::IValue> outputs;
  outputs.reserve(program_.outputs.size());
  for (const ProgramOutput& output : program_.outputs) {
    if (output.constant.defined()) {
      outputs.emplace_back(output.constant);
    } else {
      outputs.push_back(slots_[output.slot]);
    }
  }
  return outputs;
}

// Throws when an output of the step that just ran is not what the IR says.
void StepRun::check_results() const {
  const Step& step = program_.steps[next_step_ - 1];
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i] == kNoSlot) continue;
    check_result(step, program_.step_outputs[next_step_ - 1][i], slots_[step.outputs[i]]);
  }
}

void StepRun::check_result(const Step& step, const TensorMeta& meta,
                           const c10::IValue& value) const {
  if (!value.isTensor()) {
    if (!meta.is_scalar) fail(step, meta, "a number, but the IR says a tensor");
    const bool is_named = meta.dtype == "int64" && !meta.expression.empty() && value.isInt();
    if (is_named) bind(meta, value, *symbols_);
    return;
  }
  const at::Tensor& output = value.toTensor();
  if (!output.defined()) return;
  if (meta.is_scalar) fail(step, meta, "a tensor, but the IR says a number");
  if (has_shape(output, meta, *symbols_) && output.scalar_type() == parse_dtype(meta.dtype)) {
    return;
  }
  fail(step, meta,
       fmt::format("{} {}, but the IR says {} {}", dtype_name(output.scalar_type()),
                   shape_list_text(output.sizes()), meta.dtype, shape_list_text(meta)));
}

}  // namespace torch_ir
