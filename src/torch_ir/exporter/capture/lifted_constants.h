// LiftedConstants: names the tensors of a module that are neither parameters nor buffers.
//
// Python finds a plain tensor attribute (`self.mask = torch.tensor(...)`) by its name and lifts it
// as `c_mask`. C++ members have no names at run time, so a module derives from this class and
// registers them:
//
//   struct MaskedLinearImpl : torch::nn::Module, torch_ir::LiftedConstants {
//     MaskedLinearImpl() : linear(register_module("linear", torch::nn::Linear(4, 4))) {
//       mask = register_constant("mask", torch::tensor({1.f, 0.f, 1.f, 0.f}));
//     }
//     ...
//
// Other constants are captured as `lifted_tensor_N`, if they have values.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace torch::nn {
class Module;
}

namespace torch_ir {

// With a number, the names of constants that are not registered.
inline constexpr const char* kUnnamedConstant = "lifted_tensor_";

struct LiftedConstant {
  std::string name;
  // The tensor that the module uses.
  at::Tensor tensor;
  // As registered: with values also where `tensor` is its counterpart on the meta device.
  at::Tensor value;
};

class LiftedConstants {
 public:
  // Returns the tensor to keep and use: `value`, or under a MetaDeviceGuard its counterpart on the
  // meta device. Throws Error if the name is taken.
  at::Tensor register_constant(const std::string& name, const at::Tensor& value);

  const std::vector<LiftedConstant>& constants() const { return constants_; }

 protected:
  LiftedConstants() = default;
  // Virtual for dynamic_cast; do not delete through this class.
  virtual ~LiftedConstants() = default;

 private:
  std::vector<LiftedConstant> constants_;
};

// The registered constants of `module` and its submodules, with dotted names ("block.mask").
std::vector<LiftedConstant> list_constants(const torch::nn::Module& module);

}  // namespace torch_ir
