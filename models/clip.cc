#include <torch/nn.h>

#include "models/blocks/transformer_layer.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

constexpr int64_t kClipWidth = 64;

class ImageTowerImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& images) {
    const at::Tensor patches = patches_(images).flatten(2).transpose(1, 2);
    const at::Tensor classes = class_token_.expand({images.size(0), 1, -1});
    const at::Tensor x = at::cat({classes, patches}, 1) + positions_;
    return projection_(norm2_(stack_(norm1_(x)).select(1, 0)));
  }

 private:
  nn::Conv2d patches_ = register_module(
      "patches", nn::Conv2d(nn::Conv2dOptions(3, kClipWidth, 8).stride(8).bias(false)));
  at::Tensor class_token_ = register_parameter("class_token", at::zeros({1, 1, kClipWidth}));
  at::Tensor positions_ = register_parameter("positions", at::zeros({17, kClipWidth}));
  nn::LayerNorm norm1_ = register_module("norm1", layer_norm(kClipWidth));
  TransformerStack stack_ = register_module(
      "stack", TransformerStack(1, TransformerShape{.width = kClipWidth, .heads = 4}));
  nn::LayerNorm norm2_ = register_module("norm2", layer_norm(kClipWidth));
  Projection projection_ =
      register_module("projection", Projection(kClipWidth, 32, /*has_bias=*/false));
};
TORCH_MODULE(ImageTower);

class TextTowerImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& tokens) {
    const at::Tensor x = norm_(stack_(embedding_(tokens) + positions_));
    // The end of a text has the greatest of its tokens.
    const at::Tensor ends = tokens.argmax(-1);
    return projection_(x.index({at::arange(tokens.size(0), at::kLong), ends}));
  }

 private:
  nn::Embedding embedding_ = register_module("embedding", nn::Embedding(96, kClipWidth));
  at::Tensor positions_ = register_parameter("positions", at::zeros({12, kClipWidth}));
  TransformerStack stack_ = register_module(
      "stack",
      TransformerStack(1, TransformerShape{.width = kClipWidth, .heads = 4, .is_causal = true}));
  nn::LayerNorm norm_ = register_module("norm", layer_norm(kClipWidth));
  Projection projection_ =
      register_module("projection", Projection(kClipWidth, 32, /*has_bias=*/false));
};
TORCH_MODULE(TextTower);

// Radford et al., Learning Transferable Visual Models From Natural Language Supervision, 2021.
class ClipImpl : public nn::Module {
 public:
  // How well each image goes with each text, and each text with each image.
  std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& images, const at::Tensor& tokens) {
    const at::Tensor image = direction(image_(images));
    const at::Tensor text = direction(text_(tokens));
    const at::Tensor scores = scale_.exp() * at::matmul(image, text.t());
    return {scores, scores.t()};
  }

 private:
  static at::Tensor direction(const at::Tensor& x) { return x / x.norm(2, -1, /*keepdim=*/true); }

  ImageTower image_ = register_module("image", ImageTower());
  TextTower text_ = register_module("text", TextTower());
  at::Tensor scale_ = register_parameter("scale", at::zeros({}));
};
TORCH_MODULE(Clip);

REGISTER_MODEL(
    Clip,
    {.inputs = {{.name = "images", .shape = {2, 3, 32, 32}},
                {.name = "tokens", .shape = {3, 12}, .dtype = at::kLong, .low = 0, .high = 96}},
     .categories = {"vision", "language", "attention", "multi_io"},
     .description = "CLIP: a tower for images, one for texts, and their angles"});

}  // namespace
}  // namespace torch_ir
