// MetaDeviceGuard: builds modules without allocating their weights, as `with torch.device("meta"):`
// does in Python.
//
// While a guard lives, tensors that this thread creates without naming a device are on the meta
// device. Use torch::tensor for tensors from values; at::tensor throws.
//
//   torch_ir::MetaDeviceGuard meta;
//   torch::nn::Linear huge(1 << 20, 1 << 20);  // costs nothing
#pragma once

#include <memory>

namespace torch_ir {

class MetaDeviceGuard {
 public:
  MetaDeviceGuard();
  ~MetaDeviceGuard();
  MetaDeviceGuard(const MetaDeviceGuard&) = delete;
  MetaDeviceGuard& operator=(const MetaDeviceGuard&) = delete;

  // Whether this thread is inside one. Guards nest, and other threads have their own.
  static bool is_active();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace torch_ir
