// Kernel: a prepared way to run an operator on tensors that stay in place.
//
// A frame prepares a kernel for each of its calls once, doing all work that depends only on shapes,
// strides and dtypes (checks, type promotion, iteration order), and runs it in every run. A kernel
// gives the same bits as the dispatcher, which handles operators and calls without one.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace torch_ir {

// A call to prepare a kernel for, over the memory of a frame. The kernel keeps what it needs.
struct KernelCall {
  c10::OperatorHandle op;
  // One for each argument of the schema.
  std::vector<c10::IValue> arguments;
  // For each argument, whether its values are the same in every run.
  std::vector<bool> is_constant;
  // Laid out as in eager, unless a pass of the level `fast` has chosen another layout. For an
  // operator that writes in place, the argument that it returns.
  std::vector<at::Tensor> outputs;
  std::vector<bool> is_used;
};

class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;

  // Allocates nothing that outlives the call.
  virtual void run() = 0;

  // Whether it also writes unused outputs.
  virtual bool writes_unused() const { return true; }

  // `storage`, used by tensors of the call, has new memory in the next run.
  virtual void on_moved(const c10::StorageImpl* /*storage*/) {}
};

template <class Run>
class RunKernel final : public PreparedKernel {
 public:
  explicit RunKernel(Run run) : run_(std::move(run)) {}
  void run() override { run_(); }

 private:
  Run run_;
};

template <class Run>
std::unique_ptr<PreparedKernel> make_kernel(Run run) {
  return std::make_unique<RunKernel<Run>>(std::move(run));
}

// Null if the kernel does not take such a call. Reads no data except constants.
using PrepareKernel = std::unique_ptr<PreparedKernel> (*)(const KernelCall& call);

// Finds a kernel by the operator's full name ("aten::add.Tensor", or "aten::relu" without
// overload); null if there is none. An operator that writes in place has the kernel of its
// functional form.
PrepareKernel find_kernel(std::string_view operator_name);

}  // namespace torch_ir
