// Encoder-decoder models that map sequences to sequences.
#include <torch/nn.h>

#include <cmath>
#include <limits>

#include "models/blocks/layers.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

// Sutskever et al., Sequence to Sequence Learning with Neural Networks, 2014.
class LstmSeq2SeqImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& tokens, const at::Tensor& decoder_tokens) {
    // The decoder gets only the last state, so the source is read backwards.
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

REGISTER_MODEL(LstmSeq2Seq,
               {.inputs = {indices("tokens", {2, 10}, 96), indices("decoder_tokens", {2, 8}, 96)},
                .categories = {"language", "multi_io"},
                .description = "Two LSTMs; the second starts from the state of the first"});

// Bahdanau et al., Neural Machine Translation by Jointly Learning to Align and Translate, 2014.
// Each step of the decoder attends to a bidirectional encoder.
class GruSeq2SeqImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& tokens, const at::Tensor& decoder_tokens) {
    const auto [memory, last] = encoder_(source_(tokens));
    const at::Tensor keys = key_(memory);
    // The direction that ends at the first word.
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
  Projection score_ = register_module("score", unbiased(kWidth, 1));
  nn::Embedding target_ = register_module("target", nn::Embedding(96, kWidth));
  nn::GRU decoder_ =
      register_module("decoder", nn::GRU(nn::GRUOptions(3 * kWidth, kWidth).batch_first(true)));
  Projection head_ = register_module("head", Projection(kWidth, 96));
};
TORCH_MODULE(GruSeq2Seq);

REGISTER_MODEL(
    GruSeq2Seq,
    {.inputs = {indices("tokens", {2, 10}, 96), indices("decoder_tokens", {2, 6}, 96)},
     .categories = {"language", "attention", "multi_io"},
     .description = "A bidirectional GRU, and one that attends to its outputs at each step"});

constexpr int64_t kT5Width = 64;
constexpr int64_t kT5Heads = 4;

// A bias of the scores by distance, with one bucket for each short one and few for longer ones.
class RelativeBiasImpl : public nn::Module {
 public:
  explicit RelativeBiasImpl(bool is_bidirectional) : is_bidirectional_(is_bidirectional) {}

  // 1 x heads x length x length
  at::Tensor forward(int64_t length) {
    const at::Tensor places = at::arange(length, at::kLong);
    const at::Tensor offsets = places.unsqueeze(0) - places.unsqueeze(1);
    return embedding_(buckets(offsets)).permute({2, 0, 1}).unsqueeze(0);
  }

 private:
  static constexpr int64_t kBuckets = 8;
  static constexpr double kFarthest = 16;

  at::Tensor buckets(const at::Tensor& offsets) const {
    if (!is_bidirectional_) return spread(offsets.neg().clamp_min(0), kBuckets);
    return (offsets > 0).to(at::kLong) * (kBuckets / 2) + spread(offsets.abs(), kBuckets / 2);
  }

  // Maps distances to `count` buckets, the second half of them on a logarithmic scale.
  static at::Tensor spread(const at::Tensor& distances, int64_t count) {
    const int64_t exact = count / 2;
    const double steps =
        static_cast<double>(count - exact) / std::log(kFarthest / static_cast<double>(exact));
    const at::Tensor far =
        exact + (at::log(distances.to(at::kFloat) / exact) * steps).to(at::kLong);
    return at::where(distances < exact, distances, far.clamp_max(count - 1));
  }

  bool is_bidirectional_;
  nn::Embedding embedding_ = register_module("embedding", nn::Embedding(kBuckets, kT5Heads));
};
TORCH_MODULE(RelativeBias);

class T5AttentionImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& query, const at::Tensor& context,
                     const std::optional<at::Tensor>& bias) {
    // Scores are not scaled.
    return o_(merge_heads(at::scaled_dot_product_attention(
        split_heads(q_(query), kT5Heads), split_heads(k_(context), kT5Heads),
        split_heads(v_(context), kT5Heads), bias, /*dropout_p=*/0, /*is_causal=*/false,
        /*scale=*/1)));
  }

 private:
  Projection q_ = register_module("q", unbiased(kT5Width, kT5Width));
  Projection k_ = register_module("k", unbiased(kT5Width, kT5Width));
  Projection v_ = register_module("v", unbiased(kT5Width, kT5Width));
  Projection o_ = register_module("o", unbiased(kT5Width, kT5Width));
};
TORCH_MODULE(T5Attention);

class T5LayerImpl : public nn::Module {
 public:
  explicit T5LayerImpl(bool crosses) {
    if (crosses) cross_ = register_module("cross", T5Attention());
  }

  at::Tensor forward(at::Tensor x, const at::Tensor& bias, const at::Tensor& context) {
    const at::Tensor normed = norm1_(x);
    x = x + self_(normed, normed, bias);
    if (!cross_.is_empty()) x = x + cross_(norm2_(x), context, std::nullopt);
    return x + down_(at::relu(up_(norm3_(x))));
  }

 private:
  RmsNorm norm1_ = register_module("norm1", RmsNorm(kT5Width));
  T5Attention self_ = register_module("self", T5Attention());
  RmsNorm norm2_ = register_module("norm2", RmsNorm(kT5Width));
  T5Attention cross_ = nullptr;
  RmsNorm norm3_ = register_module("norm3", RmsNorm(kT5Width));
  Projection up_ = register_module("up", unbiased(kT5Width, 128));
  Projection down_ = register_module("down", unbiased(128, kT5Width));
};
TORCH_MODULE(T5Layer);

class T5StackImpl : public nn::Module {
 public:
  explicit T5StackImpl(bool is_decoder)
      : is_decoder_(is_decoder),
        bias_(register_module("bias", RelativeBias(/*is_bidirectional=*/!is_decoder))) {
    for (int i = 0; i < 2; ++i) layers_->push_back(T5Layer(/*crosses=*/is_decoder));
  }

  at::Tensor forward(at::Tensor x, const at::Tensor& context) {
    const int64_t length = x.size(1);
    at::Tensor bias = bias_(length);
    if (is_decoder_) {
      const at::Tensor later = at::ones({length, length}, at::kBool).triu(1);
      bias = bias.masked_fill(later, -std::numeric_limits<double>::infinity());
    }
    for (const auto& layer : *layers_) x = layer->as<T5Layer>()->forward(x, bias, context);
    return norm_(x);
  }

 private:
  bool is_decoder_;
  RelativeBias bias_;
  nn::ModuleList layers_ = register_module("layers", nn::ModuleList());
  RmsNorm norm_ = register_module("norm", RmsNorm(kT5Width));
};
TORCH_MODULE(T5Stack);

// Raffel et al., Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer,
// 2019.
class T5Impl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& tokens, const at::Tensor& decoder_tokens) {
    const at::Tensor context = encoder_(embedding_(tokens), at::Tensor());
    const at::Tensor hidden = decoder_(embedding_(decoder_tokens), context);
    return at::linear(hidden * std::pow(kT5Width, -0.5), embedding_->weight);
  }

 private:
  nn::Embedding embedding_ = register_module("embedding", nn::Embedding(96, kT5Width));
  T5Stack encoder_ = register_module("encoder", T5Stack(/*is_decoder=*/false));
  T5Stack decoder_ = register_module("decoder", T5Stack(/*is_decoder=*/true));
};
TORCH_MODULE(T5);

REGISTER_MODEL(T5,
               {.inputs = {indices("tokens", {1, 16}, 96), indices("decoder_tokens", {1, 8}, 96)},
                .categories = {"language", "generation", "attention", "multi_io", "shared_weights"},
                .description = "Encoder and decoder with relative position biases"});

}  // namespace
}  // namespace torch_ir
