#include <torch/nn.h>

#include "models/blocks/transformer_layer.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

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
  explicit Gpt2Impl(const GptShape& shape = kGpt2Shape)
      : tokens_(register_module("tokens", nn::Embedding(shape.vocabulary, shape.width))),
        positions_(register_module("positions", nn::Embedding(shape.positions, shape.width))),
        stack_(register_module(
            "stack", TransformerStack(shape.layers, TransformerShape{.width = shape.width,
                                                                     .heads = shape.heads,
                                                                     .is_causal = true}))),
        norm_(register_module("norm", layer_norm(shape.width))) {}

  at::Tensor forward(const at::Tensor& tokens) {
    const at::Tensor places = at::arange(tokens.size(1), at::kLong).unsqueeze(0);
    const at::Tensor hidden = norm_(stack_(tokens_(tokens) + positions_(places)));
    return at::linear(hidden, tokens_->weight);
  }

 private:
  nn::Embedding tokens_;
  nn::Embedding positions_;
  TransformerStack stack_;
  nn::LayerNorm norm_;
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

}  // namespace
}  // namespace torch_ir
