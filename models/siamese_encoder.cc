#include <torch/nn.h>

#include "models/blocks/conv3x3.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

class SiameseEncoderImpl : public nn::Module {
 public:
  std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& x1, const at::Tensor& x2) {
    return {encoder_->forward(x1), encoder_->forward(x2)};
  }

 private:
  nn::Sequential encoder_ = register_module(
      "encoder", nn::Sequential(conv3x3(3, 32), nn::ReLU(), nn::MaxPool2d(2), conv3x3(32, 64),
                                nn::ReLU(), nn::MaxPool2d(2), conv3x3(64, 128), nn::ReLU(),
                                nn::AdaptiveAvgPool2d(1), nn::Flatten(), nn::Linear(128, 128)));
};
TORCH_MODULE(SiameseEncoder);

REGISTER_MODEL(SiameseEncoder, {.inputs = {{.shape = {1, 3, 64, 64}}, {.shape = {1, 3, 64, 64}}},
                                .categories = {"multi_io", "shared_weights", "specification"},
                                .description = "Apply same encoder to two images"});

}  // namespace
}  // namespace torch_ir
