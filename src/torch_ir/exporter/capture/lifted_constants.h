// LiftedConstants: how a module names the tensors that are neither parameters nor buffers.
//
// In Python a plain tensor attribute (`self.mask = torch.tensor(...)`) is found by its name and
// lifted into the graph as `c_mask`. C++ members have no names at run time, so a module that wants
// them derives from this class as well and registers each constant:
//
//   struct MaskedLinearImpl : torch::nn::Module, torch_ir::LiftedConstants {
//     MaskedLinearImpl() : linear(register_module("linear", torch::nn::Linear(4, 4))) {
//       mask = register_constant("mask", torch::tensor({1.f, 0.f, 1.f, 0.f}));
//     }
//     ...
//
// A constant that is used without being registered is still captured, as `lifted_tensor_N`.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "torch_ir/ir/ir.h"

namespace torch::nn {
class Module;
}

namespace torch_ir {

class LiftedConstants {
 public:
  // Registers `value` under `name` and returns the tensor to keep and use: `value` itself, or
  // under a MetaDeviceGuard its counterpart on the meta device, without data. Throws Error when
  // the name is taken.
  at::Tensor register_constant(const std::string& name, const at::Tensor& value);

  const StateDict& constants() const { return constants_; }

 protected:
  LiftedConstants() = default;
  // Not to be deleted through this class; virtual, so that a module can be asked whether it is one.
  virtual ~LiftedConstants() = default;

 private:
  StateDict constants_{"Constant"};
};

// The registered constants of `module` and its submodules by dotted name ("block.mask").
StateDict lifted_constants(const torch::nn::Module& module);

}  // namespace torch_ir
