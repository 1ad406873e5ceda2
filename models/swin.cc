#include <torch/nn.h>

#include "models/blocks/layers.h"
#include "models/blocks/transformer_layer.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

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

// For each pair of cells of a window, which of the biases is theirs.
at::Tensor relative_places() {
  const std::vector<at::Tensor> grid =
      at::meshgrid({at::arange(kWindow, at::kLong), at::arange(kWindow, at::kLong)}, "ij");
  const at::Tensor cells = at::stack(grid).flatten(1);
  const at::Tensor offsets = cells.unsqueeze(2) - cells.unsqueeze(1) + (kWindow - 1);
  return offsets.select(0, 0) * (2 * kWindow - 1) + offsets.select(0, 1);
}

// Which cells of the windows of a shifted image were neighbours before: those of one region.
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
  // Four neighbours become one.
  at::Tensor merge(const at::Tensor& x) {
    const at::Tensor pairs = x.unflatten(1, {-1, 2}).unflatten(3, {-1, 2});
    return merge_(merge_norm_(pairs.permute({0, 1, 3, 4, 2, 5}).flatten(3)));
  }

  nn::Conv2d patches_ =
      register_module("patches", nn::Conv2d(nn::Conv2dOptions(3, 32, 4).stride(4)));
  SwinLayer layer1_ = register_module("layer1", SwinLayer(32, 2, 8, 0));
  SwinLayer layer2_ = register_module("layer2", SwinLayer(32, 2, 8, kWindow / 2));
  nn::LayerNorm merge_norm_ = register_module("merge_norm", layer_norm(128));
  Projection merge_ = register_module("merge", Projection(128, 64, /*has_bias=*/false));
  SwinLayer layer3_ = register_module("layer3", SwinLayer(64, 4, 4, 0));
  SwinLayer layer4_ = register_module("layer4", SwinLayer(64, 4, 4, 0));
  nn::LayerNorm norm_ = register_module("norm", layer_norm(64));
  Projection head_ = register_module("head", Projection(64, 10));
};
TORCH_MODULE(Swin);

REGISTER_MODEL(Swin, {.inputs = {{.shape = {1, 3, 32, 32}}},
                      .categories = {"vision", "attention"},
                      .description = "Attention within windows, which every other layer shifts"});

}  // namespace
}  // namespace torch_ir
