#include <torch/nn.h>

#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

// The same layer for each point.
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
    // Whatever the order of the points.
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
                          .description = "A cloud of points, aligned, and its greatest features"});

}  // namespace
}  // namespace torch_ir
