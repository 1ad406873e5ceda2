#include <torch/nn.h>

#include "models/blocks/conv3x3.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

class MultiTaskHeadImpl : public nn::Module {
 public:
  std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& x) {
    const at::Tensor features = backbone_->forward(x);
    return {classifier_->forward(features), aux_head_->forward(features)};
  }

 private:
  nn::Sequential backbone_ = register_module(
      "backbone", nn::Sequential(conv3x3(3, 32), nn::BatchNorm2d(32), nn::ReLU(), nn::MaxPool2d(2),
                                 conv3x3(32, 64), nn::BatchNorm2d(64), nn::ReLU(),
                                 nn::AdaptiveAvgPool2d(4), nn::Flatten()));
  nn::Sequential classifier_ = register_module(
      "classifier", nn::Sequential(nn::Linear(1024, 128), nn::ReLU(), nn::Linear(128, 10)));
  nn::Sequential aux_head_ = register_module(
      "aux_head", nn::Sequential(nn::Linear(1024, 64), nn::ReLU(), nn::Linear(64, 4)));
};
TORCH_MODULE(MultiTaskHead);

REGISTER_MODEL(MultiTaskHead, {.inputs = {{.shape = {1, 3, 32, 32}}},
                               .categories = {"multi_io", "specification"},
                               .description = "Shared backbone + multi-output heads"});

}  // namespace
}  // namespace torch_ir
