#include <torch/nn.h>

#include "torch_ir/exporter/capture/lifted_constants.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

class BufferVsConstantImpl : public nn::Module, public LiftedConstants {
 public:
  at::Tensor forward(const at::Tensor& x) { return linear_(x) * scale_ + offset_; }

 private:
  nn::Linear linear_ = register_module("linear", nn::Linear(4, 4));
  at::Tensor scale_ = register_buffer("scale", at::full({4}, 2.f));
  at::Tensor offset_ = register_constant("offset", torch::tensor({0.1f, 0.2f, 0.3f, 0.4f}));
};
TORCH_MODULE(BufferVsConstant);

REGISTER_MODEL(BufferVsConstant, {.inputs = {{.shape = {1, 4}}},
                                  .categories = {"lifted_constants", "specification"},
                                  .description = "A buffer and a lifted constant side by side"});

}  // namespace
}  // namespace torch_ir
