// Kernels: ways to run an operator on tensors that stay where they are.
//
// A frame prepares a kernel for each of its calls, once, and runs it in every run. What depends on
// shapes, strides and dtypes only (checks, type promotion, iteration order) is done when it is
// prepared. A prepared kernel gives the bits that the dispatcher gives; operators without a kernel,
// and calls that a kernel does not take, go through the dispatcher.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace torch_ir {

// A call of a trace over the memory of a frame: its arguments as a kernel takes them. Made to
// prepare a kernel, which keeps what it needs.
struct KernelCall {
  c10::OperatorHandle op;
  // One for each argument of the schema.
  std::vector<c10::IValue> arguments;
  // For each argument whether it is, or holds only, values that are the same in every run.
  std::vector<bool> is_constant;
  // Where the results go, laid out as eager lays them out. Of an operator that writes in place,
  // the argument that it returns.
  std::vector<at::Tensor> outputs;
  // For each output whether anybody reads it.
  std::vector<bool> is_used;
};

class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;

  // Reads the arguments, writes the outputs. Allocates nothing that outlives the call.
  virtual void run() = 0;

  // Whether it also writes the outputs that nobody reads, and so needs memory for them.
  virtual bool writes_unused() const { return true; }

  // The memory of `storage`, which tensors of the call use, is another now: that of an input or
  // output of the next run.
  virtual void on_moved(const c10::StorageImpl* /*storage*/) {}
};

// A kernel that is a function, which keeps what it needs.
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

// Null where the kernel does not take such a call. Reads no data but that of constants.
using PrepareKernel = std::unique_ptr<PreparedKernel> (*)(const KernelCall& call);

// The kernel of an operator by its full name ("aten::add.Tensor", or "aten::relu" without
// overload); null when there is none. Operators that write in place have that of their functional
// form.
PrepareKernel find_kernel(std::string_view operator_name);

}  // namespace torch_ir
