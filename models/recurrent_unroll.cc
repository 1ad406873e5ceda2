#include <torch/nn.h>

#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

class RecurrentUnrollImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& x) {
    at::Tensor state = x;
    for (int step = 0; step < kSteps; ++step) state = at::tanh(cell_(state));
    return state;
  }

 private:
  static constexpr int kSteps = 5;

  nn::Linear cell_ = register_module("cell", nn::Linear(32, 32));
};
TORCH_MODULE(RecurrentUnroll);

REGISTER_MODEL(RecurrentUnroll, {.inputs = {{.shape = {1, 32}}},
                                 .categories = {"shared_weights", "specification"},
                                 .description = "Repeated application of same cell"});

}  // namespace
}  // namespace torch_ir
