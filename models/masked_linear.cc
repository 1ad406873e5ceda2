#include <torch/nn.h>

#include "torch_ir/exporter/capture/lifted_constants.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

class MaskedLinearImpl : public nn::Module, public LiftedConstants {
 public:
  at::Tensor forward(const at::Tensor& x) { return linear_(x) * mask_; }

 private:
  nn::Linear linear_ = register_module("linear", nn::Linear(4, 4));
  at::Tensor mask_ = register_constant("mask", torch::tensor({1.f, 0.f, 1.f, 0.f}));
};
TORCH_MODULE(MaskedLinear);

REGISTER_MODEL(MaskedLinear, {.inputs = {{.shape = {1, 4}}},
                              .categories = {"lifted_constants", "specification"},
                              .description = "Static float mask kept outside the state dict"});

}  // namespace
}  // namespace torch_ir
