// Decoder: the language model of Llama and its successors: RMSNorm, rotary positions, SwiGLU;
// grouped or latent attention, dense or with experts. Buffers cache the tokens read so far.
//
// Llama: Grattafiori et al., The Llama 3 Herd of Models, 2024. Grouped queries: Ainslie et al.,
// GQA, 2023. Experts: Jiang et al., Mixtral of Experts, 2024. Latent attention and the choice of
// experts by groups: DeepSeek-AI, DeepSeek-V3 Technical Report, 2024.
#pragma once

#include <torch/nn.h>

#include "models/blocks/layers.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {

// Caches one vector of `rank` numbers, from which each head makes its keys and values, and a rotary
// part that all heads share.
struct LatentShape {
  int64_t query_rank;
  int64_t rank;
  int64_t plain_width;
  int64_t rotary_width;
  int64_t value_width;
};

struct ExpertsShape {
  int64_t count;
  int64_t chosen;
  int64_t hidden;
  // Always in use, beside the chosen experts; counted in experts.
  int64_t shared = 0;
  // Experts are chosen from the best `chosen_groups` of `groups`.
  int64_t groups = 1;
  int64_t chosen_groups = 1;
  int64_t dense_layers = 0;
  // Scores are sigmoids instead of a softmax, with a correction for the choice.
  bool has_sigmoid_scores = false;
  double scale = 1;
};

struct DecoderShape {
  int64_t vocabulary;
  int64_t width;
  int64_t layers;
  int64_t heads;
  int64_t hidden;
  int64_t positions;
  // Queries share key heads evenly.
  int64_t key_heads;
  double rotary_base = 1e4;
  std::optional<LatentShape> latent = std::nullopt;
  std::optional<ExpertsShape> experts = std::nullopt;

  int64_t rotary_width() const { return latent ? latent->rotary_width : width / heads; }
};

class DecoderImpl : public torch::nn::Module {
 public:
  explicit DecoderImpl(const DecoderShape& shape);

  // The scores of each next token, for `tokens` (1 x length) that begin at position `start` (one
  // number). The cache has the tokens before it.
  at::Tensor forward(const at::Tensor& tokens, const at::Tensor& start);

 private:
  int64_t positions_;
  at::Tensor frequencies_;
  torch::nn::Embedding embedding_;
  torch::nn::ModuleList layers_ = register_module("layers", torch::nn::ModuleList());
  RmsNorm norm_;
  Projection head_;
};
TORCH_MODULE(Decoder);

std::vector<ModelInput> decoder_inputs(const DecoderShape& shape, int64_t length);

}  // namespace torch_ir
