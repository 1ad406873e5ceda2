#include <torch/nn.h>

#include "models/blocks/attention.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

class TransformerBlockImpl : public Attention {
 public:
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor hidden = norm1_(x + attend(x, x));
    return norm2_(hidden + ffn_->forward(hidden));
  }

 private:
  nn::LayerNorm norm1_ = register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({kWidth})));
  nn::LayerNorm norm2_ = register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({kWidth})));
  nn::Sequential ffn_ = register_module(
      "ffn",
      nn::Sequential(nn::Linear(kWidth, 4 * kWidth), nn::GELU(), nn::Linear(4 * kWidth, kWidth)));
};
TORCH_MODULE(TransformerBlock);

REGISTER_MODEL(TransformerBlock, {.inputs = {{.shape = {1, 16, 64}}},
                                  .categories = {"attention", "skip_connections", "specification"},
                                  .description = "Complete transformer block"});

}  // namespace
}  // namespace torch_ir
