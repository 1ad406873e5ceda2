// Networks on points in space.
#include <torch/nn.h>

#include "models/blocks/layers.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

// Mildenhall et al., NeRF: Representing Scenes as Neural Radiance Fields for View Synthesis, 2020.
class NeRFImpl : public nn::Module {
 public:
  // Returns the colours of rays with `points` on them (rays x points x 3), `steps` apart.
  std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& points, const at::Tensor& directions,
                                             const at::Tensor& steps) {
    const at::Tensor place = encode(points, kPlaceOctaves);
    const at::Tensor hidden = at::relu(layer2_(at::relu(layer1_(place))));
    const at::Tensor features = at::relu(layer3_(at::cat({hidden, place}, -1)));
    const at::Tensor density = at::relu(density_(features)).squeeze(-1);
    const at::Tensor direction =
        encode(directions, kDirectionOctaves).unsqueeze(1).expand({-1, points.size(1), -1});
    const at::Tensor colors =
        at::sigmoid(color2_(at::relu(color1_(at::cat({bottleneck_(features), direction}, -1)))));
    return render(density, colors, steps);
  }

 private:
  static constexpr int64_t kWidth = 32;
  static constexpr int64_t kPlaceOctaves = 6;
  static constexpr int64_t kDirectionOctaves = 2;
  static constexpr int64_t kPlaceWidth = 3 + 6 * kPlaceOctaves;
  static constexpr int64_t kDirectionWidth = 3 + 6 * kDirectionOctaves;

  static at::Tensor encode(const at::Tensor& x, int64_t octaves) {
    std::vector<at::Tensor> parts = {x};
    for (int64_t i = 0; i < octaves; ++i) {
      const at::Tensor scaled = x * (1 << i);
      parts.push_back(scaled.sin());
      parts.push_back(scaled.cos());
    }
    return at::cat(parts, -1);
  }

  // Sums the light that reaches the eye from each point; also returns the total opacity.
  static std::tuple<at::Tensor, at::Tensor> render(const at::Tensor& density,
                                                   const at::Tensor& colors,
                                                   const at::Tensor& steps) {
    const at::Tensor clear = at::exp(-density * steps);
    const at::Tensor before =
        at::cat({at::ones_like(clear.slice(1, 0, 1)), at::cumprod(clear, 1).slice(1, 0, -1)}, 1);
    const at::Tensor weights = before * (1 - clear);
    return {(weights.unsqueeze(-1) * colors).sum(1), weights.sum(1)};
  }

  Projection layer1_ = register_module("layer1", Projection(kPlaceWidth, kWidth));
  Projection layer2_ = register_module("layer2", Projection(kWidth, kWidth));
  Projection layer3_ = register_module("layer3", Projection(kWidth + kPlaceWidth, kWidth));
  Projection density_ = register_module("density", Projection(kWidth, 1));
  Projection bottleneck_ = register_module("bottleneck", Projection(kWidth, kWidth));
  Projection color1_ = register_module("color1", Projection(kWidth + kDirectionWidth, kWidth));
  Projection color2_ = register_module("color2", Projection(kWidth, 3));
};
TORCH_MODULE(NeRF);

REGISTER_MODEL(NeRF, {.inputs = {{.name = "points", .shape = {16, 8, 3}},
                                 {.name = "directions", .shape = {16, 3}},
                                 {.name = "steps", .shape = {16, 8}, .low = 0.05, .high = 0.2}},
                      .categories = {"geometry", "generation", "multi_io"},
                      .description = "A field of density and colour, rendered along rays"});

class PointLayerImpl : public nn::Module {
 public:
  PointLayerImpl(int64_t in_channels, int64_t channels)
      : conv_(register_module("conv", nn::Conv1d(nn::Conv1dOptions(in_channels, channels, 1)))),
        bn_(register_module("bn", nn::BatchNorm1d(channels))) {}

  at::Tensor forward(const at::Tensor& x) { return at::relu(bn_(conv_(x))); }

 private:
  nn::Conv1d conv_;
  nn::BatchNorm1d bn_;
};
TORCH_MODULE(PointLayer);

// The rotation and scale that points need.
class AlignmentImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& points) {
    const at::Tensor most = layer2_(layer1_(points)).amax(-1);
    const at::Tensor matrix = fc2_(at::relu(fc1_(most))).view({-1, 3, 3}) + at::eye(3);
    return at::bmm(points.transpose(1, 2), matrix).transpose(1, 2);
  }

 private:
  PointLayer layer1_ = register_module("layer1", PointLayer(3, 16));
  PointLayer layer2_ = register_module("layer2", PointLayer(16, 64));
  nn::Linear fc1_ = register_module("fc1", nn::Linear(64, 32));
  nn::Linear fc2_ = register_module("fc2", nn::Linear(32, 9));
};
TORCH_MODULE(Alignment);

// Qi et al., PointNet: Deep Learning on Point Sets for 3D Classification and Segmentation, 2016.
class PointNetImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& points) {
    const at::Tensor features = layer3_(layer2_(layer1_(alignment_(points))));
    // Independent of the order of the points.
    const at::Tensor most = std::get<0>(features.max(-1));
    return at::log_softmax(fc2_(at::relu(bn_(fc1_(most)))), -1);
  }

 private:
  Alignment alignment_ = register_module("alignment", Alignment());
  PointLayer layer1_ = register_module("layer1", PointLayer(3, 16));
  PointLayer layer2_ = register_module("layer2", PointLayer(16, 32));
  PointLayer layer3_ = register_module("layer3", PointLayer(32, 128));
  nn::Linear fc1_ = register_module("fc1", nn::Linear(128, 64));
  nn::BatchNorm1d bn_ = register_module("bn", nn::BatchNorm1d(64));
  nn::Linear fc2_ = register_module("fc2", nn::Linear(64, 10));
};
TORCH_MODULE(PointNet);

REGISTER_MODEL(PointNet, {.inputs = {{.name = "points", .shape = {2, 3, 128}}},
                          .categories = {"geometry"},
                          .description = "A point cloud, aligned, and its max-pooled features"});

}  // namespace
}  // namespace torch_ir
