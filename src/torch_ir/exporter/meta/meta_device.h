// MetaDeviceGuard: builds modules without allocating their weights.
//
// While one lives, tensors that this thread creates without naming a device are on the meta
// device: shape and dtype, no data. What `with torch.device("meta"):` does in Python. Tensors from
// values come from torch::tensor; at::tensor throws, as it has no memory to write them to.
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

  // Whether this thread is inside one.
  static bool is_active();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace torch_ir
