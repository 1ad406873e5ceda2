#include "torch_ir/runtime/interpreter/run.h"

#include <ATen/ops/scalar_tensor.h>
#include <fmt/format.h>

#include <algorithm>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"
#include "torch_ir/ir/strided_copy.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/call_recording.h"
#include "torch_ir/runtime/graph/memory_overlap.h"

namespace torch_ir {

c10::impl::LocalDispatchKeySet keys_for_call(c10::ArrayRef<c10::IValue> arguments) {
  c10::impl::LocalDispatchKeySet keys = c10::impl::tls_local_dispatch_key_set();
  for_each_tensor(arguments, [&](const at::Tensor& tensor) {
    if (!tensor.requires_grad()) return;
    keys.excluded_ = keys.excluded_.remove(c10::DispatchKey::ADInplaceOrView);
  });
  return keys;
}

std::string input_problem(const Value& declared, c10::Device device, const at::Tensor& input) {
  const auto problem = [&](const std::string& what) {
    return fmt::format("Input '{}' {}.", printable(declared.name), what);
  };
  if (!input.defined()) {
    return fmt::format("Missing input '{}' ({}).", printable(declared.name),
                       dtype_and_shape(declared));
  }
  if (const std::string difference = describe_difference(input, declared); !difference.empty()) {
    return problem("has " + difference);
  }
  if (input.device() != device && !declared.is_scalar) {
    return problem(fmt::format("is on {}, expected {}", input.device().str(), device.str()));
  }
  return {};
}

std::string input_count_problem(size_t expected, size_t actual) {
  if (actual == expected) return {};
  return fmt::format("Expected {} input{}, found {}.", expected, expected == 1 ? "" : "s", actual);
}

bool lacks_strides(const LoweredGraph& graph, const std::vector<at::Tensor>& inputs) {
  const size_t size = std::min(inputs.size(), graph.inputs.size());
  for (size_t i = 0; i < size; ++i) {
    const std::vector<int64_t>& strides = (*graph.source)[graph.inputs[i].value].strides;
    if (!strides.empty() && inputs[i].defined() && inputs[i].strides() != strides) return true;
  }
  return false;
}

Stack input_values(const LoweredGraph& graph, const std::vector<at::Tensor>& inputs) {
  if (const std::string problem = input_count_problem(graph.inputs.size(), inputs.size());
      !problem.empty()) {
    throw ExecutionError(problem);
  }
  std::vector<std::string> problems;
  Stack values;
  values.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& declared = (*graph.source)[graph.inputs[i].value];
    std::string problem = input_problem(declared, graph.device, inputs[i]);
    if (!problem.empty()) {
      problems.push_back(std::move(problem));
    } else if (declared.is_scalar) {
      values.emplace_back(inputs[i].item());
    } else if (!declared.strides.empty() && inputs[i].strides() != declared.strides) {
      try {
        values.emplace_back(strided_copy(inputs[i], declared.strides));
      } catch (const Error& error) {
        problems.push_back(fmt::format("Input '{}': {}.", printable(declared.name), error.what()));
      }
    } else {
      values.emplace_back(inputs[i].requires_grad() ? inputs[i].detach() : inputs[i]);
    }
  }
  if (!problems.empty()) throw ExecutionError(problem_list(problems, "the inputs"));
  return values;
}

namespace {

bool shares_memory(const at::Tensor& a, const at::Tensor& b) {
  return a.is_same(b) || (a.defined() && a.has_storage() && b.has_storage() && a.is_alias_of(b));
}

// Copies outputs that are constants of the plan, or views of one, so that callers may write to
// them. Outputs that were the same tensor stay one.
void keep_constants(const LoweredGraph& graph, std::vector<at::Tensor>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!graph.values[graph.outputs[i].value].may_be_constant) continue;
    const at::Tensor value = outputs[i];
    const bool is_constant = std::ranges::any_of(graph.values, [&](const LoweredValue& other) {
      return other.is_fixed() && shares_memory(value, other.constant);
    });
    if (!is_constant) continue;
    const at::Tensor copy = copy_group({value}).front();
    for (at::Tensor& output : outputs) {
      if (output.is_same(value)) output = copy;
    }
  }
}

}  // namespace

at::Tensor as_tensor(const c10::IValue& value, c10::ScalarType dtype) {
  if (value.isTensor()) return value.toTensor();
  if (value.isNone()) return {};
  return at::scalar_tensor(value.toScalar(), at::TensorOptions(dtype));
}

Stack run_steps(const LoweredGraph& graph, const Stack& inputs, SymbolValues* symbols) {
  const PlainKernelsGuard guard;
  StepRun run(graph, inputs, symbols);
  while (!run.is_done()) run.advance();
  return run.outputs();
}

std::vector<at::Tensor> caller_outputs(const LoweredGraph& graph, const Stack& results) {
  std::vector<at::Tensor> outputs;
  outputs.reserve(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    outputs.push_back(as_tensor(results[i], graph.outputs[i].dtype));
  }
  const PlainKernelsGuard guard;
  keep_constants(graph, outputs);
  return outputs;
}

}  // namespace torch_ir
