#include <torch/nn.h>

#include "models/blocks/transformer_layer.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

struct VisionShape {
  int64_t patch;
  int64_t patches;
  int64_t classes;
  int64_t layers;
  TransformerShape layer;
};

constexpr VisionShape small_vision(bool is_parallel) {
  return {.patch = 8,
          .patches = 16,
          .classes = 10,
          .layers = 2,
          .layer = {.width = 64, .heads = 4, .is_parallel = is_parallel}};
}

// Dehghani et al., Scaling Vision Transformers to 22 Billion Parameters, 2023, table 1; with a
// token for the class in place of their pooling.
constexpr VisionShape kViT22BShape = {
    .patch = 14,
    .patches = 256,
    .classes = 1000,
    .layers = 48,
    .layer = {.width = 6144, .heads = 48, .hidden = 24576, .is_parallel = true}};

// Dosovitskiy et al., An Image is Worth 16x16 Words, 2020.
class VisionTransformerImpl : public nn::Module {
 public:
  explicit VisionTransformerImpl(const VisionShape& shape)
      : patches_(register_module(
            "patches",
            nn::Conv2d(nn::Conv2dOptions(3, shape.layer.width, shape.patch).stride(shape.patch)))),
        class_token_(register_parameter("class_token", at::zeros({1, 1, shape.layer.width}))),
        positions_(
            register_parameter("positions", at::zeros({1, shape.patches + 1, shape.layer.width}))),
        stack_(register_module("stack", TransformerStack(shape.layers, shape.layer))),
        norm_(register_module("norm", layer_norm(shape.layer.width))),
        head_(register_module("head", Projection(shape.layer.width, shape.classes))) {}

  at::Tensor forward(const at::Tensor& image) {
    const at::Tensor patches = patches_(image).flatten(2).transpose(1, 2);
    const at::Tensor classes = class_token_.expand({image.size(0), -1, -1});
    const at::Tensor x = stack_(at::cat({classes, patches}, 1) + positions_);
    return head_(norm_(x).select(1, 0));
  }

 private:
  nn::Conv2d patches_;
  at::Tensor class_token_;
  at::Tensor positions_;
  TransformerStack stack_;
  nn::LayerNorm norm_;
  Projection head_;
};
TORCH_MODULE(VisionTransformer);

REGISTER_MODEL_AS(VisionTransformer, "VisionTransformer",
                  VisionTransformer(small_vision(/*is_parallel=*/false)),
                  {.inputs = {{.shape = {2, 3, 32, 32}}},
                   .categories = {"vision", "attention"},
                   .description = "ViT: an image as a sequence of patches"});

REGISTER_MODEL_AS(ParallelVisionTransformer, "ParallelVisionTransformer",
                  VisionTransformer(small_vision(/*is_parallel=*/true)),
                  {.inputs = {{.shape = {2, 3, 32, 32}}},
                   .categories = {"vision", "attention"},
                   .description = "ViT-22B, small: attention and linear layers side by side"});

REGISTER_MODEL_AS(ViT22B, "ViT-22B", VisionTransformer(kViT22BShape),
                  {.inputs = {{.shape = {1, 3, 224, 224}}},
                   .categories = {"vision", "attention"},
                   .description = "ViT-22B: attention and linear layers side by side",
                   .scale = Scale::kFull});

}  // namespace
}  // namespace torch_ir
