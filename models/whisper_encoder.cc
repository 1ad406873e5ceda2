#include <torch/nn.h>

#include <cmath>

#include "models/blocks/transformer_layer.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

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
                                .description = "Whisper's encoder of a spectrogram"});

}  // namespace
}  // namespace torch_ir
