#include <torch/nn/module.h>

#include "torch_ir/weights/state_dict.h"

namespace torch_ir {

StateDict state_dict(const torch::nn::Module& module) {
  StateDict tensors = module.named_parameters();
  tensors.update(module.named_buffers());
  return tensors;
}

}  // namespace torch_ir
