// Stacks of transformer layers for text, images and sound.
#include <torch/nn.h>

#include <cmath>

#include "models/blocks/layers.h"
#include "models/blocks/transformer_layer.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

// Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers, 2018.
class BertImpl : public nn::Module {
 public:
  // Returns embeddings of each token and of the whole.
  std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& tokens, const at::Tensor& segments) {
    const at::Tensor places = at::arange(tokens.size(1), at::kLong).unsqueeze(0);
    const at::Tensor x = tokens_(tokens) + segments_(segments) + positions_(places);
    const at::Tensor hidden = stack_(norm_(x));
    return {hidden, at::tanh(pooler_(hidden.select(1, 0)))};
  }

 private:
  static constexpr int64_t kWidth = 64;

  nn::Embedding tokens_ = register_module("tokens", nn::Embedding(96, kWidth));
  nn::Embedding segments_ = register_module("segments", nn::Embedding(2, kWidth));
  nn::Embedding positions_ = register_module("positions", nn::Embedding(32, kWidth));
  nn::LayerNorm norm_ = register_module("norm", layer_norm(kWidth));
  TransformerStack stack_ = register_module(
      "stack",
      TransformerStack(2, TransformerShape{.width = kWidth, .heads = 4, .normalizes_sums = true}));
  Projection pooler_ = register_module("pooler", Projection(kWidth, kWidth));
};
TORCH_MODULE(Bert);

REGISTER_MODEL(Bert, {.inputs = {indices("tokens", {2, 16}, 96), indices("segments", {2, 16}, 2)},
                      .categories = {"language", "attention", "multi_io"},
                      .description = "Three embeddings, a post-norm encoder, a pooler"});

struct GptShape {
  int64_t vocabulary;
  int64_t positions;
  int64_t width;
  int64_t heads;
  int64_t layers;
};

// Brown et al., Language Models are Few-Shot Learners, 2020, table 2.1; all layers are dense here.
constexpr GptShape kGpt3Shape = {
    .vocabulary = 50257, .positions = 2048, .width = 12288, .heads = 96, .layers = 96};

constexpr GptShape kGpt2Shape = {
    .vocabulary = 96, .positions = 32, .width = 64, .heads = 4, .layers = 2};

// Radford et al., Language Models are Unsupervised Multitask Learners, 2019.
class Gpt2Impl : public nn::Module {
 public:
  explicit Gpt2Impl(const GptShape& shape = kGpt2Shape) : shape_(shape) {}

  at::Tensor forward(const at::Tensor& tokens) {
    const at::Tensor places = at::arange(tokens.size(1), at::kLong).unsqueeze(0);
    const at::Tensor hidden = norm_(stack_(tokens_(tokens) + positions_(places)));
    return at::linear(hidden, tokens_->weight);
  }

 private:
  const GptShape shape_;
  nn::Embedding tokens_ = register_module("tokens", nn::Embedding(shape_.vocabulary, shape_.width));
  nn::Embedding positions_ =
      register_module("positions", nn::Embedding(shape_.positions, shape_.width));
  TransformerStack stack_ = register_module(
      "stack", TransformerStack(shape_.layers, TransformerShape{.width = shape_.width,
                                                                .heads = shape_.heads,
                                                                .is_causal = true}));
  nn::LayerNorm norm_ = register_module("norm", layer_norm(shape_.width));
};
TORCH_MODULE(Gpt2);

REGISTER_MODEL(Gpt2, {.inputs = {{.shape = {1, 16}, .dtype = at::kLong, .low = 0, .high = 96}},
                      .categories = {"language", "generation", "attention", "shared_weights"},
                      .description = "GPT-2: causal attention, the embedding as the output layer"});

REGISTER_MODEL_AS(Gpt3, "GPT-3-175B", Gpt2(kGpt3Shape),
                  {.inputs = {{.shape = {1, 2048}, .dtype = at::kLong, .low = 0, .high = 50257}},
                   .categories = {"language", "generation", "attention", "shared_weights"},
                   .description = "GPT-3: 2,048 tokens at once",
                   .scale = Scale::kFull});

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
// class token instead of pooling.
constexpr VisionShape kViT22BShape = {
    .patch = 14,
    .patches = 256,
    .classes = 1000,
    .layers = 48,
    .layer = {.width = 6144, .heads = 48, .hidden = 24576, .is_parallel = true}};

// Dosovitskiy et al., An Image is Worth 16x16 Words, 2020.
class VisionTransformerImpl : public nn::Module {
 public:
  explicit VisionTransformerImpl(const VisionShape& shape) : shape_(shape) {}

  at::Tensor forward(const at::Tensor& image) {
    const at::Tensor patches = patches_(image).flatten(2).transpose(1, 2);
    const at::Tensor classes = class_token_.expand({image.size(0), -1, -1});
    const at::Tensor x = stack_(at::cat({classes, patches}, 1) + positions_);
    return head_(norm_(x).select(1, 0));
  }

 private:
  const VisionShape shape_;
  const int64_t width_ = shape_.layer.width;
  nn::Conv2d patches_ = register_module(
      "patches", nn::Conv2d(nn::Conv2dOptions(3, width_, shape_.patch).stride(shape_.patch)));
  at::Tensor class_token_ = register_parameter("class_token", at::zeros({1, 1, width_}));
  at::Tensor positions_ =
      register_parameter("positions", at::zeros({1, shape_.patches + 1, width_}));
  TransformerStack stack_ = register_module("stack", TransformerStack(shape_.layers, shape_.layer));
  nn::LayerNorm norm_ = register_module("norm", layer_norm(width_));
  Projection head_ = register_module("head", Projection(width_, shape_.classes));
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
  Projection projection_ = register_module("projection", unbiased(kClipWidth, 32));
};
TORCH_MODULE(ImageTower);

class TextTowerImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& tokens) {
    const at::Tensor x = norm_(stack_(embedding_(tokens) + positions_));
    // The end of a text is its greatest token.
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
  Projection projection_ = register_module("projection", unbiased(kClipWidth, 32));
};
TORCH_MODULE(TextTower);

// Radford et al., Learning Transferable Visual Models From Natural Language Supervision, 2021.
class ClipImpl : public nn::Module {
 public:
  // Scores each image against each text, and each text against each image.
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

REGISTER_MODEL(Clip, {.inputs = {{.name = "images", .shape = {2, 3, 32, 32}},
                                 indices("tokens", {3, 12}, 96)},
                      .categories = {"vision", "language", "attention", "multi_io"},
                      .description = "CLIP: image and text towers, compared by cosine"});

// positions x width: sines of growing wavelengths, then cosines.
at::Tensor sinusoids(int64_t positions, int64_t width) {
  const double step = -std::log(1e4) / static_cast<double>(width / 2 - 1);
  const at::Tensor angles =
      at::arange(positions).unsqueeze(1) * at::exp(at::arange(width / 2) * step);
  return at::cat({angles.sin(), angles.cos()}, 1);
}

// Radford et al., Robust Speech Recognition via Large-Scale Weak Supervision, 2022.
class WhisperEncoderImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& spectrogram) {
    const at::Tensor x = at::gelu(conv2_(at::gelu(conv1_(spectrogram)))).transpose(1, 2);
    return norm_(stack_(x + positions_));
  }

 private:
  static constexpr int64_t kWidth = 64;

  nn::Conv1d conv1_ =
      register_module("conv1", nn::Conv1d(nn::Conv1dOptions(40, kWidth, 3).padding(1)));
  nn::Conv1d conv2_ = register_module(
      "conv2", nn::Conv1d(nn::Conv1dOptions(kWidth, kWidth, 3).stride(2).padding(1)));
  at::Tensor positions_ = register_buffer("positions", sinusoids(24, kWidth));
  TransformerStack stack_ =
      register_module("stack", TransformerStack(2, TransformerShape{.width = kWidth, .heads = 4}));
  nn::LayerNorm norm_ = register_module("norm", layer_norm(kWidth));
};
TORCH_MODULE(WhisperEncoder);

REGISTER_MODEL(WhisperEncoder, {.inputs = {{.name = "spectrogram", .shape = {1, 40, 48}}},
                                .categories = {"audio", "attention"},
                                .description = "Whisper's encoder, applied to a spectrogram"});

constexpr int64_t kWindow = 4;
constexpr int64_t kCells = kWindow * kWindow;

// batch x height x width x channels to windows x cells x channels.
at::Tensor to_windows(const at::Tensor& x) {
  return x.view({x.size(0), x.size(1) / kWindow, kWindow, x.size(2) / kWindow, kWindow, x.size(3)})
      .permute({0, 1, 3, 2, 4, 5})
      .reshape({-1, kCells, x.size(3)});
}

at::Tensor from_windows(const at::Tensor& windows, at::IntArrayRef sizes) {
  return windows
      .view({sizes[0], sizes[1] / kWindow, sizes[2] / kWindow, kWindow, kWindow, sizes[3]})
      .permute({0, 1, 3, 2, 4, 5})
      .reshape(sizes);
}

// The index of the bias for each pair of cells of a window.
at::Tensor relative_places() {
  const std::vector<at::Tensor> grid =
      at::meshgrid({at::arange(kWindow, at::kLong), at::arange(kWindow, at::kLong)}, "ij");
  const at::Tensor cells = at::stack(grid).flatten(1);
  const at::Tensor offsets = cells.unsqueeze(2) - cells.unsqueeze(1) + (kWindow - 1);
  return offsets.select(0, 0) * (2 * kWindow - 1) + offsets.select(0, 1);
}

// Marks the pairs of cells in the windows of a shifted image that come from one region.
at::Tensor same_region(int64_t size, int64_t shift) {
  const at::Tensor line = at::arange(size, at::kLong);
  const at::Tensor part =
      (line >= size - kWindow).to(at::kLong) + (line >= size - shift).to(at::kLong);
  const at::Tensor regions = part.unsqueeze(1) * 3 + part;
  const at::Tensor windows = to_windows(regions.view({1, size, size, 1})).squeeze(-1);
  return windows.unsqueeze(1) == windows.unsqueeze(2);
}

class SwinLayerImpl : public nn::Module {
 public:
  SwinLayerImpl(int64_t width, int64_t heads, int64_t size, int64_t shift)
      : width_(width), heads_(heads), shift_(shift) {
    if (shift != 0) same_region_ = register_buffer("same_region", same_region(size, shift));
  }

  at::Tensor forward(const at::Tensor& x) {
    at::Tensor y = norm1_(x);
    if (shift_ != 0) y = at::roll(y, {-shift_, -shift_}, {1, 2});
    y = from_windows(attend(to_windows(y)), x.sizes());
    if (shift_ != 0) y = at::roll(y, {shift_, shift_}, {1, 2});
    const at::Tensor attended = x + y;
    return attended + down_(at::gelu(up_(norm2_(attended))));
  }

 private:
  at::Tensor attend(const at::Tensor& windows) {
    const std::vector<at::Tensor> parts = qkv_(windows).chunk(3, -1);
    at::Tensor mask =
        biases_.index({places_}).view({kCells, kCells, heads_}).permute({2, 0, 1}).unsqueeze(0);
    if (shift_ != 0) {
      mask = mask.masked_fill(same_region_.logical_not().unsqueeze(1), -100);
    }
    return out_(merge_heads(at::scaled_dot_product_attention(split_heads(parts[0], heads_),
                                                             split_heads(parts[1], heads_),
                                                             split_heads(parts[2], heads_), mask)));
  }

  const int64_t width_;
  const int64_t heads_;
  const int64_t shift_;
  nn::LayerNorm norm1_ = register_module("norm1", layer_norm(width_));
  Projection qkv_ = register_module("qkv", Projection(width_, 3 * width_));
  at::Tensor biases_ =
      register_parameter("biases", at::zeros({(2 * kWindow - 1) * (2 * kWindow - 1), heads_}));
  at::Tensor places_ = register_buffer("places", relative_places().flatten());
  at::Tensor same_region_;
  Projection out_ = register_module("out", Projection(width_, width_));
  nn::LayerNorm norm2_ = register_module("norm2", layer_norm(width_));
  Projection up_ = register_module("up", Projection(width_, 4 * width_));
  Projection down_ = register_module("down", Projection(4 * width_, width_));
};
TORCH_MODULE(SwinLayer);

// Liu et al., Swin Transformer: Hierarchical Vision Transformer using Shifted Windows, 2021.
class SwinImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& image) {
    const at::Tensor x = patches_(image).permute({0, 2, 3, 1}).contiguous();
    const at::Tensor y = merge(layer2_(layer1_(x)));
    return head_(norm_(layer4_(layer3_(y))).mean({1, 2}));
  }

 private:
  at::Tensor merge(const at::Tensor& x) {
    const at::Tensor pairs = x.unflatten(1, {-1, 2}).unflatten(3, {-1, 2});
    return merge_(merge_norm_(pairs.permute({0, 1, 3, 4, 2, 5}).flatten(3)));
  }

  nn::Conv2d patches_ =
      register_module("patches", nn::Conv2d(nn::Conv2dOptions(3, 32, 4).stride(4)));
  SwinLayer layer1_ = register_module("layer1", SwinLayer(32, 2, 8, 0));
  SwinLayer layer2_ = register_module("layer2", SwinLayer(32, 2, 8, kWindow / 2));
  nn::LayerNorm merge_norm_ = register_module("merge_norm", layer_norm(128));
  Projection merge_ = register_module("merge", unbiased(128, 64));
  SwinLayer layer3_ = register_module("layer3", SwinLayer(64, 4, 4, 0));
  SwinLayer layer4_ = register_module("layer4", SwinLayer(64, 4, 4, 0));
  nn::LayerNorm norm_ = register_module("norm", layer_norm(64));
  Projection head_ = register_module("head", Projection(64, 10));
};
TORCH_MODULE(Swin);

REGISTER_MODEL(Swin, {.inputs = {{.shape = {1, 3, 32, 32}}},
                      .categories = {"vision", "attention"},
                      .description = "Attention in windows, shifted in every other layer"});

}  // namespace
}  // namespace torch_ir
