#include <torch/nn.h>

#include "models/blocks/layers.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

// Sutskever et al., Sequence to Sequence Learning with Neural Networks, 2014.
class LstmSeq2SeqImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& tokens, const at::Tensor& decoder_tokens) {
    // All that the decoder knows is the last state; the source is read backwards.
    const auto state = std::get<1>(encoder_(source_(tokens.flip(1))));
    return head_(std::get<0>(decoder_->forward(target_(decoder_tokens), state)));
  }

 private:
  static constexpr int64_t kWidth = 32;

  static nn::LSTM lstm() {
    return nn::LSTM(nn::LSTMOptions(kWidth, kWidth).num_layers(2).batch_first(true));
  }

  nn::Embedding source_ = register_module("source", nn::Embedding(96, kWidth));
  nn::LSTM encoder_ = register_module("encoder", lstm());
  nn::Embedding target_ = register_module("target", nn::Embedding(96, kWidth));
  nn::LSTM decoder_ = register_module("decoder", lstm());
  Projection head_ = register_module("head", Projection(kWidth, 96));
};
TORCH_MODULE(LstmSeq2Seq);

REGISTER_MODEL(
    LstmSeq2Seq,
    {.inputs =
         {{.name = "tokens", .shape = {2, 10}, .dtype = at::kLong, .low = 0, .high = 96},
          {.name = "decoder_tokens", .shape = {2, 8}, .dtype = at::kLong, .low = 0, .high = 96}},
     .categories = {"language", "multi_io"},
     .description = "Two LSTMs, the state of one the start of the other"});

// Bahdanau et al., Neural Machine Translation by Jointly Learning to Align and Translate, 2014.
// Each step of the decoder looks at what the encoder read in both directions.
class GruSeq2SeqImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& tokens, const at::Tensor& decoder_tokens) {
    const auto [memory, last] = encoder_(source_(tokens));
    const at::Tensor keys = key_(memory);
    // Of the direction that ends at the first word.
    at::Tensor state = at::tanh(start_(last.select(0, 1))).unsqueeze(0);
    const at::Tensor targets = target_(decoder_tokens);
    std::vector<at::Tensor> outputs;
    for (int64_t i = 0; i < targets.size(1); ++i) {
      const at::Tensor found = look_up(state, keys, memory);
      const at::Tensor input = at::cat({targets.slice(1, i, i + 1), found}, -1);
      const auto step = decoder_->forward(input, state);
      outputs.push_back(std::get<0>(step));
      state = std::get<1>(step);
    }
    return head_(at::cat(outputs, 1));
  }

 private:
  static constexpr int64_t kWidth = 32;

  // batch x 1 x 2 * kWidth
  at::Tensor look_up(const at::Tensor& state, const at::Tensor& keys, const at::Tensor& memory) {
    const at::Tensor scores = score_(at::tanh(query_(state.transpose(0, 1)) + keys));
    return at::bmm(scores.softmax(1).transpose(1, 2), memory);
  }

  nn::Embedding source_ = register_module("source", nn::Embedding(96, kWidth));
  nn::GRU encoder_ = register_module(
      "encoder", nn::GRU(nn::GRUOptions(kWidth, kWidth).batch_first(true).bidirectional(true)));
  Projection start_ = register_module("start", Projection(kWidth, kWidth));
  Projection key_ = register_module("key", Projection(2 * kWidth, kWidth));
  Projection query_ = register_module("query", Projection(kWidth, kWidth));
  Projection score_ = register_module("score", Projection(kWidth, 1, /*has_bias=*/false));
  nn::Embedding target_ = register_module("target", nn::Embedding(96, kWidth));
  nn::GRU decoder_ =
      register_module("decoder", nn::GRU(nn::GRUOptions(3 * kWidth, kWidth).batch_first(true)));
  Projection head_ = register_module("head", Projection(kWidth, 96));
};
TORCH_MODULE(GruSeq2Seq);

REGISTER_MODEL(
    GruSeq2Seq,
    {.inputs =
         {{.name = "tokens", .shape = {2, 10}, .dtype = at::kLong, .low = 0, .high = 96},
          {.name = "decoder_tokens", .shape = {2, 6}, .dtype = at::kLong, .low = 0, .high = 96}},
     .categories = {"language", "attention", "multi_io"},
     .description = "A bidirectional GRU, and one that looks at its outputs in each step"});

}  // namespace
}  // namespace torch_ir
