#include <torch/nn.h>

#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

constexpr int64_t kVocabulary = 100;
constexpr int64_t kWidth = 64;

class WeightTyingImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor hidden = transform_->forward(embedding_(x));
    return nn::functional::linear(hidden, embedding_->weight, output_bias_);
  }

 private:
  nn::Embedding embedding_ = register_module("embedding", nn::Embedding(kVocabulary, kWidth));
  nn::Sequential transform_ = register_module(
      "transform",
      nn::Sequential(nn::Linear(kWidth, kWidth), nn::ReLU(), nn::Linear(kWidth, kWidth)));
  at::Tensor output_bias_ = register_parameter("output_bias", at::zeros(kVocabulary));
};
TORCH_MODULE(WeightTying);

REGISTER_MODEL(WeightTying,
               {.inputs = {{.shape = {1, 16}, .dtype = at::kLong, .low = 0, .high = kVocabulary}},
                .categories = {"shared_weights", "specification"},
                .description = "Embedding-output weight sharing"});

}  // namespace
}  // namespace torch_ir
