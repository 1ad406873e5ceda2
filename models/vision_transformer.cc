#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>
#include <torch/nn/modules/conv.h>

#include "models/blocks/transformer_layer.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

// Dosovitskiy et al., An Image is Worth 16x16 Words, 2020.
class VisionTransformerImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& image) {
    const at::Tensor patches = patches_(image).flatten(2).transpose(1, 2);
    const at::Tensor classes = class_token_.expand({image.size(0), -1, -1});
    const at::Tensor x = stack_(at::cat({classes, patches}, 1) + positions_);
    return head_(norm_(x).select(1, 0));
  }

 private:
  static constexpr int64_t kWidth = 64;
  static constexpr int64_t kPatch = 8;
  static constexpr int64_t kPatches = 16;

  nn::Conv2d patches_ =
      register_module("patches", nn::Conv2d(nn::Conv2dOptions(3, kWidth, kPatch).stride(kPatch)));
  at::Tensor class_token_ = register_parameter("class_token", at::zeros({1, 1, kWidth}));
  at::Tensor positions_ = register_parameter("positions", at::zeros({1, kPatches + 1, kWidth}));
  TransformerStack stack_ =
      register_module("stack", TransformerStack(2, TransformerShape{.width = kWidth, .heads = 4}));
  nn::LayerNorm norm_ = register_module("norm", layer_norm(kWidth));
  Projection head_ = register_module("head", Projection(kWidth, 10));
};
TORCH_MODULE(VisionTransformer);

REGISTER_MODEL(VisionTransformer, {.inputs = {{.shape = {2, 3, 32, 32}}},
                                   .categories = {"vision", "attention"},
                                   .description = "ViT: an image as a sequence of patches"});

}  // namespace
}  // namespace torch_ir
