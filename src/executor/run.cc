#include "torch_ir/executor/run.h"

#include <ATen/ops/scalar_tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/executor/memory_overlap.h"
#include "torch_ir/executor/program.h"
#include "torch_ir/executor/step.h"
#include "torch_ir/executor/tensor_text.h"
#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

// --- Inputs ---

// Sizes that differ from run to run are the symbols' to check.
bool has_known_sizes(const at::Tensor& tensor, const TensorMeta& meta) {
  const auto agrees = [](int64_t actual, int64_t expected) {
    return expected == kDynamicSize || actual == expected;
  };
  return std::ranges::equal(tensor.sizes(), meta.shape, agrees);
}

void check_input(const Program& program, const ProgramInput& expected, const at::Tensor& input) {
  const auto fail = [&](const std::string& what) {
    throw ExecutionError(fmt::format("Input '{}' {}.", expected.meta.name, what));
  };
  if (!input.defined()) fail("is undefined");
  if (!has_known_sizes(input, expected.meta)) {
    fail(fmt::format("has shape {}, expected {}", shape_list_text(input.sizes()),
                     shape_list_text(expected.meta)));
  }
  if (input.scalar_type() != expected.dtype) {
    fail(fmt::format("has dtype {}, expected {}", dtype_name(input.scalar_type()),
                     dtype_name(expected.dtype)));
  }
  if (input.device() != program.device && !expected.meta.is_scalar) {
    fail(fmt::format("is on {}, expected {}", input.device().str(), program.device.str()));
  }
}

}  // namespace

Stack input_values(const Program& program, const std::vector<at::Tensor>& inputs) {
  if (inputs.size() != program.inputs.size()) {
    throw ExecutionError(fmt::format("The graph takes {} input(s), but {} were given.",
                                     program.inputs.size(), inputs.size()));
  }
  Stack values;
  values.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    check_input(program, program.inputs[i], inputs[i]);
    if (program.inputs[i].meta.is_scalar) {
      values.emplace_back(inputs[i].item());
    } else {
      values.emplace_back(inputs[i]);
    }
  }
  return values;
}

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

// --- Outputs ---

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

}  // namespace

at::Tensor as_tensor(const c10::IValue& value, c10::ScalarType dtype) {
  if (value.isTensor()) return value.toTensor();
  return at::scalar_tensor(value.toScalar(), at::TensorOptions(dtype));
}

namespace {

// --- The run ---

void ignore_step(size_t /*step*/) {}

// One run: what it changes, and what it needs to know.
class Run {
 public:
  // `symbols` is null when nothing is to be checked.
  Run(const Program& program, SymbolValues* symbols) : program_(program), symbols_(symbols) {}

  // One value for each output of the program.
  std::vector<c10::IValue> run(const Stack& inputs, StepObserver before_step) {
    Slots slots(program_.num_slots);
    store_inputs(program_, inputs, slots);
    Stack stack;
    stack.reserve(program_.stack_size);
    const auto run_inner = [this](const Program& program, Stack values) {
      if (symbols_ == nullptr) return Run(program, nullptr).run(values, ignore_step);
      // What depends on data may be another number in each iteration of a loop.
      SymbolValues symbols = *symbols_;
      return Run(program, &symbols).run(values, ignore_step);
    };
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      before_step(i);
      run_step(program_.steps[i], slots, stack, run_inner);
      if (symbols_ != nullptr) check_outputs(i, slots);
    }
    std::vector<c10::IValue> outputs;
    outputs.reserve(program_.outputs.size());
    for (const ProgramOutput& output : program_.outputs) {
      if (output.constant.defined()) {
        outputs.emplace_back(output.constant);
      } else {
        outputs.push_back(slots[output.slot]);
      }
    }
    return outputs;
  }

 private:
  // Throws when an output of the step that just ran is not what the IR says.
  void check_outputs(size_t index, const Slots& slots) {
    const Step& step = program_.steps[index];
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      if (step.outputs[i] == kNoSlot) continue;
      check_output(step, program_.step_outputs[index][i], slots[step.outputs[i]]);
    }
  }

  void check_output(const Step& step, const TensorMeta& meta, const c10::IValue& value) {
    if (!value.isTensor()) {
      if (!meta.is_scalar) fail(step, meta, "a number, but the IR says a tensor");
      if (meta.dtype == "int64" && !meta.expression.empty() && value.isInt()) bind(meta, value);
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

  void bind(const TensorMeta& meta, const c10::IValue& value) {
    if (const auto symbol = SymExpr::parse(meta.expression).as_symbol()) {
      symbols_->emplace(*symbol, value.toInt());
    }
  }

  [[noreturn]] static void fail(const Step& step, const TensorMeta& meta, const std::string& what) {
    throw ExecutionError(
        fmt::format("node '{}' ({}): output '{}' is {}", step.name, step.op_type, meta.name, what));
  }

  const Program& program_;
  SymbolValues* symbols_;
};

}  // namespace

std::vector<c10::IValue> run_steps(const Program& program, const Stack& inputs,
                                   SymbolValues* symbols, StepObserver before_step) {
  const PlainKernelsGuard guard;
  return Run(program, symbols).run(inputs, before_step);
}

std::vector<at::Tensor> run_program(const Program& program, const std::vector<at::Tensor>& inputs,
                                    bool is_checked) {
  const Stack values = input_values(program, inputs);
  SymbolValues symbols;
  if (!program.symbols.empty()) symbols = program.symbols.bind(values);
  const std::vector<c10::IValue> results =
      run_steps(program, values, is_checked ? &symbols : nullptr, ignore_step);
  std::vector<at::Tensor> outputs;
  outputs.reserve(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    outputs.push_back(as_tensor(results[i], program.outputs[i].dtype));
  }
  const PlainKernelsGuard guard;
  keep_constants(program, outputs);
  return outputs;
}

}  // namespace torch_ir
