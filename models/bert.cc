#include <torch/nn.h>

#include "models/blocks/transformer_layer.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

// Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers, 2018.
class BertImpl : public nn::Module {
 public:
  // What each token means, and the whole.
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

REGISTER_MODEL(
    Bert,
    {.inputs = {{.name = "tokens", .shape = {2, 16}, .dtype = at::kLong, .low = 0, .high = 96},
                {.name = "segments", .shape = {2, 16}, .dtype = at::kLong, .low = 0, .high = 2}},
     .categories = {"language", "attention", "multi_io"},
     .description = "Three embeddings, an encoder that normalizes sums, a pooler"});

}  // namespace
}  // namespace torch_ir
