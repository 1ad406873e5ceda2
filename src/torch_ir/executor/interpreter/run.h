// One run of a program, step by step: each calls its operator through the dispatcher.
//
// What plans fall back on, and what is traced.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/FunctionRef.h>

#include <vector>

#include "torch_ir/executor/graph/program.h"
#include "torch_ir/executor/interpreter/step.h"

namespace torch_ir {

// While it lives, operators run the kernels that they would run in InferenceMode, and as fast; but
// tensors made are ordinary ones, that the caller can write in place. Autocast is off: a graph says
// itself where it casts.
class PlainKernelsGuard {
  at::NoGradGuard no_grad_;
  at::AutoDispatchBelowADInplaceOrView below_autograd_;
  c10::impl::ExcludeDispatchKeyGuard no_autocast_{c10::autocast_dispatch_keyset};
};

// One value for each input of the program. Throws ExecutionError, naming the input, for those that
// do not fit.
Stack input_values(const Program& program, const std::vector<at::Tensor>& inputs);

// Told of each step before it runs.
using StepObserver = c10::function_ref<void(size_t step)>;

// One value for each output of the program. Throws ExecutionError, naming the node; where `symbols`
// is given, also for outputs of nodes that are not what the IR says.
std::vector<c10::IValue> run_steps(const Program& program, const Stack& inputs,
                                   SymbolValues* symbols, StepObserver before_step);

// As ExecutionPlan::run, or run_checked.
std::vector<at::Tensor> run_program(const Program& program, const std::vector<at::Tensor>& inputs,
                                    bool is_checked);

// A number as a tensor of `dtype`.
at::Tensor as_tensor(const c10::IValue& value, c10::ScalarType dtype);

}  // namespace torch_ir
