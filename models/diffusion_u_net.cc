#include <torch/nn.h>

#include <cmath>

#include "models/blocks/layers.h"
#include "models/blocks/transformer_layer.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

struct UNetLevel {
  int64_t channels;
  int64_t attention;
};

struct UNetShape {
  std::vector<UNetLevel> levels;
  int64_t groups;
  int64_t head_width;
  // The widths of the embedded text: of each token, and of the whole.
  int64_t context_width;
  int64_t pooled_width;
  // For each of the numbers that describe the image.
  int64_t number_width;

  int64_t time_width() const { return 4 * levels.front().channels; }
};

UNetShape small_shape() {
  return {.levels = {{.channels = 16, .attention = 0}, {.channels = 32, .attention = 1}},
          .groups = 8,
          .head_width = 16,
          .context_width = 24,
          .pooled_width = 20,
          .number_width = 8};
}

// The unet/config.json of stabilityai/stable-diffusion-xl-base-1.0.
UNetShape sdxl_shape() {
  return {.levels = {{.channels = 320, .attention = 0},
                     {.channels = 640, .attention = 2},
                     {.channels = 1280, .attention = 10}},
          .groups = 32,
          .head_width = 64,
          .context_width = 2048,
          .pooled_width = 1280,
          .number_width = 256};
}

// Residual blocks of each level on the way down; there is one more on the way up.
constexpr int64_t kUNetBlocks = 2;
constexpr int64_t kImageNumbers = 6;
constexpr int64_t kImageChannels = 4;

// Embeds each number as cosines and sines of growing wavelengths.
at::Tensor embed_numbers(const at::Tensor& numbers, int64_t width) {
  const int64_t half = width / 2;
  const at::Tensor frequencies =
      at::exp(at::arange(half) * (-std::log(1e4) / static_cast<double>(half)));
  const at::Tensor angles = numbers.unsqueeze(-1) * frequencies;
  return at::cat({angles.cos(), angles.sin()}, -1);
}

class EmbeddingMlpImpl : public nn::Module {
 public:
  EmbeddingMlpImpl(int64_t in_features, int64_t features)
      : linear1_(register_module("linear1", Projection(in_features, features))),
        linear2_(register_module("linear2", Projection(features, features))) {}

  at::Tensor forward(const at::Tensor& x) { return linear2_(at::silu(linear1_(x))); }

 private:
  Projection linear1_;
  Projection linear2_;
};
TORCH_MODULE(EmbeddingMlp);

class TimedResidualImpl : public nn::Module {
 public:
  TimedResidualImpl(int64_t in_channels, int64_t channels, const UNetShape& shape)
      : norm1_(register_module("norm1", nn::GroupNorm(shape.groups, in_channels))),
        conv1_(register_module("conv1", conv3x3(in_channels, channels))),
        time_(register_module("time", Projection(shape.time_width(), channels))),
        norm2_(register_module("norm2", nn::GroupNorm(shape.groups, channels))),
        conv2_(register_module("conv2", conv3x3(channels, channels))) {
    if (in_channels != channels) {
      shortcut_ = register_module("shortcut", conv1x1(in_channels, channels));
    }
  }

  at::Tensor forward(const at::Tensor& x, const at::Tensor& time) {
    at::Tensor y = conv1_(at::silu(norm1_(x)));
    y = y + time_(at::silu(time)).unsqueeze(-1).unsqueeze(-1);
    y = conv2_(at::silu(norm2_(y)));
    return (shortcut_.is_empty() ? x : shortcut_(x)) + y;
  }

 private:
  nn::GroupNorm norm1_;
  nn::Conv2d conv1_;
  Projection time_;
  nn::GroupNorm norm2_;
  nn::Conv2d conv2_;
  nn::Conv2d shortcut_ = nullptr;
};
TORCH_MODULE(TimedResidual);

// Attention to the image, then to the text, then a gated layer.
class CrossLayerImpl : public nn::Module {
 public:
  CrossLayerImpl(int64_t width, const UNetShape& shape) : width_(width), shape_(shape) {}

  at::Tensor forward(at::Tensor x, const at::Tensor& context) {
    const at::Tensor normed = norm1_(x);
    x = x + self_(normed, normed);
    x = x + cross_(norm2_(x), context);
    const std::vector<at::Tensor> halves = up_(norm3_(x)).chunk(2, -1);
    return x + down_(halves[0] * at::gelu(halves[1]));
  }

 private:
  MultiHeadAttention attention(int64_t context_width) const {
    return MultiHeadAttention(AttentionShape{.width = width_,
                                             .heads = width_ / shape_.head_width,
                                             .context_width = context_width,
                                             .has_bias = false});
  }

  const int64_t width_;
  const UNetShape shape_;
  nn::LayerNorm norm1_ = register_module("norm1", layer_norm(width_));
  MultiHeadAttention self_ = register_module("self", attention(width_));
  nn::LayerNorm norm2_ = register_module("norm2", layer_norm(width_));
  MultiHeadAttention cross_ = register_module("cross", attention(shape_.context_width));
  nn::LayerNorm norm3_ = register_module("norm3", layer_norm(width_));
  Projection up_ = register_module("up", Projection(width_, 8 * width_));
  Projection down_ = register_module("down", Projection(4 * width_, width_));
};
TORCH_MODULE(CrossLayer);

class SpatialTransformerImpl : public nn::Module {
 public:
  SpatialTransformerImpl(const UNetLevel& level, const UNetShape& shape)
      : norm_(register_module(
            "norm", nn::GroupNorm(nn::GroupNormOptions(shape.groups, level.channels).eps(1e-6)))),
        in_(register_module("in", Projection(level.channels, level.channels))),
        out_(register_module("out", Projection(level.channels, level.channels))) {
    for (int64_t i = 0; i < level.attention; ++i) {
      layers_->push_back(CrossLayer(level.channels, shape));
    }
  }

  at::Tensor forward(const at::Tensor& x, const at::Tensor& context) {
    at::Tensor y = in_(norm_(x).flatten(2).transpose(1, 2));
    for (const auto& layer : *layers_) y = layer->as<CrossLayer>()->forward(y, context);
    return x + out_(y).transpose(1, 2).reshape_as(x);
  }

 private:
  nn::GroupNorm norm_;
  Projection in_;
  nn::ModuleList layers_ = register_module("layers", nn::ModuleList());
  Projection out_;
};
TORCH_MODULE(SpatialTransformer);

class UNetBlockImpl : public nn::Module {
 public:
  UNetBlockImpl(int64_t in_channels, const UNetLevel& level, const UNetShape& shape)
      : residual_(register_module("residual", TimedResidual(in_channels, level.channels, shape))) {
    if (level.attention == 0) return;
    transformer_ = register_module("transformer", SpatialTransformer(level, shape));
  }

  at::Tensor forward(const at::Tensor& x, const at::Tensor& time, const at::Tensor& context) {
    const at::Tensor y = residual_(x, time);
    return transformer_.is_empty() ? y : transformer_(y, context);
  }

 private:
  TimedResidual residual_;
  SpatialTransformer transformer_ = nullptr;
};
TORCH_MODULE(UNetBlock);

// Ho et al., Denoising Diffusion Probabilistic Models, 2020; with the attention of Rombach et al.,
// High-Resolution Image Synthesis with Latent Diffusion Models, 2021, and the further embeddings of
// Podell et al., SDXL, 2023.
class DiffusionUNetImpl : public nn::Module {
 public:
  explicit DiffusionUNetImpl(const UNetShape& shape) : shape_(shape) {
    std::vector<int64_t> skipped = {width_};
    int64_t channels = width_;
    for (size_t i = 0; i < shape.levels.size(); ++i) {
      for (int64_t k = 0; k < kUNetBlocks; ++k) {
        down_->push_back(UNetBlock(channels, shape.levels[i], shape));
        skipped.push_back(channels = shape.levels[i].channels);
      }
      if (i + 1 == shape.levels.size()) break;
      downsample_->push_back(
          nn::Conv2d(nn::Conv2dOptions(channels, channels, 3).stride(2).padding(1)));
      skipped.push_back(channels);
    }
    middle1_ = register_module("middle1", UNetBlock(channels, shape.levels.back(), shape));
    middle2_ = register_module("middle2", TimedResidual(channels, channels, shape));
    for (size_t i = shape.levels.size(); i-- > 0;) {
      for (int64_t k = 0; k <= kUNetBlocks; ++k) {
        up_->push_back(UNetBlock(channels + skipped.back(), shape.levels[i], shape));
        skipped.pop_back();
        channels = shape.levels[i].channels;
      }
      if (i != 0) upsample_->push_back(conv3x3(channels, channels));
    }
  }

  // Predicts the noise of `x` at step `time`. `numbers` describe the image, `context` its content.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& time, const at::Tensor& context,
                     const at::Tensor& pooled, const at::Tensor& numbers) {
    const at::Tensor described = embed_numbers(numbers, shape_.number_width).flatten(1);
    const at::Tensor embedding =
        time_(embed_numbers(time, width_)) + image_(at::cat({pooled, described}, -1));
    std::vector<at::Tensor> skipped = {in_(x)};
    const auto run = [&](nn::ModuleList& blocks, size_t index, const at::Tensor& y) {
      return blocks[index]->as<UNetBlock>()->forward(y, embedding, context);
    };
    for (size_t i = 0; i < down_->size(); ++i) {
      skipped.push_back(run(down_, i, skipped.back()));
      const size_t level = i / kUNetBlocks;
      const bool ends_level = (i + 1) % kUNetBlocks == 0 && level < downsample_->size();
      if (!ends_level) continue;
      skipped.push_back(downsample_[level]->as<nn::Conv2d>()->forward(skipped.back()));
    }
    at::Tensor y = middle2_(middle1_(skipped.back(), embedding, context), embedding);
    for (size_t i = 0; i < up_->size(); ++i) {
      y = run(up_, i, at::cat({y, skipped.back()}, 1));
      skipped.pop_back();
      const size_t level = i / (kUNetBlocks + 1);
      const bool ends_level = (i + 1) % (kUNetBlocks + 1) == 0 && level < upsample_->size();
      if (!ends_level) continue;
      const at::Tensor larger =
          at::upsample_nearest2d(y, std::nullopt, at::ArrayRef<double>({2.0, 2.0}));
      y = upsample_[level]->as<nn::Conv2d>()->forward(larger);
    }
    return out_(at::silu(norm_(y)));
  }

 private:
  const UNetShape shape_;
  const int64_t width_ = shape_.levels.front().channels;
  EmbeddingMlp time_ = register_module("time", EmbeddingMlp(width_, shape_.time_width()));
  EmbeddingMlp image_ = register_module(
      "image",
      EmbeddingMlp(shape_.pooled_width + kImageNumbers * shape_.number_width, shape_.time_width()));
  nn::Conv2d in_ = register_module("in", conv3x3(kImageChannels, width_));
  nn::ModuleList down_ = register_module("down", nn::ModuleList());
  nn::ModuleList downsample_ = register_module("downsample", nn::ModuleList());
  UNetBlock middle1_ = nullptr;
  TimedResidual middle2_ = nullptr;
  nn::ModuleList up_ = register_module("up", nn::ModuleList());
  nn::ModuleList upsample_ = register_module("upsample", nn::ModuleList());
  nn::GroupNorm norm_ = register_module("norm", nn::GroupNorm(shape_.groups, width_));
  nn::Conv2d out_ = register_module("out", conv3x3(width_, kImageChannels));
};
TORCH_MODULE(DiffusionUNet);

std::vector<ModelInput> u_net_inputs(const UNetShape& shape, int64_t size, int64_t tokens) {
  return {{.name = "x", .shape = {1, kImageChannels, size, size}},
          {.name = "time", .shape = {1}, .low = 0, .high = 1000},
          {.name = "context", .shape = {1, tokens, shape.context_width}},
          {.name = "pooled", .shape = {1, shape.pooled_width}},
          {.name = "numbers", .shape = {1, kImageNumbers}, .low = 0, .high = 1024}};
}

REGISTER_MODEL_AS(DiffusionUNet, "DiffusionUNet", DiffusionUNet(small_shape()),
                  {.inputs = u_net_inputs(small_shape(), 16, 5),
                   .categories = {"generation", "vision", "attention", "multi_io"},
                   .description = "A U-Net with time embedding that removes noise from an image"});

REGISTER_MODEL_AS(SDXL, "SDXL-UNet", DiffusionUNet(sdxl_shape()),
                  {.inputs = u_net_inputs(sdxl_shape(), 128, 77),
                   .categories = {"generation", "vision", "attention", "multi_io"},
                   .description = "Stable Diffusion XL's U-Net, for an image of 1024 x 1024",
                   .scale = Scale::kFull});

}  // namespace
}  // namespace torch_ir
