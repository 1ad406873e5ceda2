#include "models/blocks/decoder.h"

#include <cmath>
#include <limits>

namespace torch_ir {
namespace {

struct Places {
  at::Tensor positions;
  at::Tensor cos;
  at::Tensor sin;
  at::Tensor mask;
};

at::Tensor rotate(const at::Tensor& x, const Places& places) {
  const std::vector<at::Tensor> halves = x.chunk(2, -1);
  return x * places.cos + at::cat({-halves[1], halves[0]}, -1) * places.sin;
}

class CachedAttentionImpl : public torch::nn::Module {
 public:
  virtual at::Tensor forward(const at::Tensor& x, const Places& places) = 0;
};

class GroupedAttentionImpl : public CachedAttentionImpl {
 public:
  explicit GroupedAttentionImpl(const DecoderShape& shape) : shape_(shape) {}

  at::Tensor forward(const at::Tensor& x, const Places& places) override {
    const at::Tensor q = rotate(split_heads(q_proj_(x), shape_.heads), places);
    keys_.index_copy_(2, places.positions,
                      rotate(split_heads(k_proj_(x), shape_.key_heads), places));
    values_.index_copy_(2, places.positions, split_heads(v_proj_(x), shape_.key_heads));
    return o_proj_(merge_heads(at::scaled_dot_product_attention(
        q, keys_, values_, places.mask, /*dropout_p=*/0, /*is_causal=*/false,
        /*scale=*/std::nullopt, /*enable_gqa=*/shape_.key_heads != shape_.heads)));
  }

 private:
  at::Tensor cache() const {
    return at::zeros({1, shape_.key_heads, shape_.positions, head_width_});
  }

  const DecoderShape shape_;
  const int64_t head_width_ = shape_.width / shape_.heads;
  const int64_t key_width_ = shape_.key_heads * head_width_;
  Projection q_proj_ = register_module("q_proj", unbiased(shape_.width, shape_.width));
  Projection k_proj_ = register_module("k_proj", unbiased(shape_.width, key_width_));
  Projection v_proj_ = register_module("v_proj", unbiased(shape_.width, key_width_));
  Projection o_proj_ = register_module("o_proj", unbiased(shape_.width, shape_.width));
  at::Tensor keys_ = register_buffer("keys", cache());
  at::Tensor values_ = register_buffer("values", cache());
};

// Latent attention as used for decoding: queries are projected to the cached vectors, which serve
// as keys and values of all heads.
class LatentAttentionImpl : public CachedAttentionImpl {
 public:
  explicit LatentAttentionImpl(const DecoderShape& shape) : shape_(shape) {}

  at::Tensor forward(const at::Tensor& x, const Places& places) override {
    const std::vector<at::Tensor> queries =
        split_heads(q_up_(q_norm_(q_down_(x))), heads_)
            .split_with_sizes({latent_.plain_width, latent_.rotary_width}, -1);
    const at::Tensor q = at::cat({at::matmul(queries[0], k_up_), rotate(queries[1], places)}, -1);
    const std::vector<at::Tensor> keys =
        kv_down_(x).unsqueeze(1).split_with_sizes({latent_.rank, latent_.rotary_width}, -1);
    cache_.index_copy_(2, places.positions,
                       at::cat({kv_norm_(keys[0]), rotate(keys[1], places)}, -1));
    const double scale = 1 / std::sqrt(static_cast<double>(query_width_));
    const at::Tensor found = at::scaled_dot_product_attention(
        q, cache_, cache_.narrow(-1, 0, latent_.rank), places.mask, /*dropout_p=*/0,
        /*is_causal=*/false, scale, /*enable_gqa=*/true);
    return o_proj_(merge_heads(at::matmul(found, v_up_.transpose(1, 2))));
  }

 private:
  const DecoderShape shape_;
  const int64_t heads_ = shape_.heads;
  const LatentShape latent_ = *shape_.latent;
  const int64_t query_width_ = latent_.plain_width + latent_.rotary_width;
  const int64_t cached_width_ = latent_.rank + latent_.rotary_width;
  Projection q_down_ = register_module("q_down", unbiased(shape_.width, latent_.query_rank));
  RmsNorm q_norm_ = register_module("q_norm", RmsNorm(latent_.query_rank));
  Projection q_up_ = register_module("q_up", unbiased(latent_.query_rank, heads_* query_width_));
  Projection kv_down_ = register_module("kv_down", unbiased(shape_.width, cached_width_));
  RmsNorm kv_norm_ = register_module("kv_norm", RmsNorm(latent_.rank));
  at::Tensor k_up_ =
      register_parameter("k_up", at::zeros({heads_, latent_.plain_width, latent_.rank}));
  at::Tensor v_up_ =
      register_parameter("v_up", at::zeros({heads_, latent_.value_width, latent_.rank}));
  Projection o_proj_ =
      register_module("o_proj", unbiased(heads_* latent_.value_width, shape_.width));
  at::Tensor cache_ = register_buffer("cache", at::zeros({1, 1, shape_.positions, cached_width_}));
};

class FeedForwardImpl : public torch::nn::Module {
 public:
  virtual at::Tensor forward(const at::Tensor& x) = 0;
};

// Shazeer, GLU Variants Improve Transformer, 2020.
class SwiGluImpl : public FeedForwardImpl {
 public:
  SwiGluImpl(int64_t width, int64_t hidden)
      : gate_proj_(register_module("gate_proj", unbiased(width, hidden))),
        up_proj_(register_module("up_proj", unbiased(width, hidden))),
        down_proj_(register_module("down_proj", unbiased(hidden, width))) {}

  at::Tensor forward(const at::Tensor& x) override {
    return down_proj_(at::silu(gate_proj_(x)) * up_proj_(x));
  }

 private:
  Projection gate_proj_;
  Projection up_proj_;
  Projection down_proj_;
};

// Stacks the weights of all experts and gathers those of each token, as fast inference does for few
// tokens.
class ExpertsImpl : public FeedForwardImpl {
 public:
  explicit ExpertsImpl(const DecoderShape& shape) : experts_(*shape.experts) {
    const auto [count, hidden] = std::pair(experts_.count, experts_.hidden);
    router_ = register_module("router", unbiased(shape.width, count));
    if (experts_.has_sigmoid_scores) {
      correction_ = register_parameter("correction", at::zeros({count}));
    }
    gate_up_ = register_parameter("gate_up", at::zeros({count, 2 * hidden, shape.width}));
    down_ = register_parameter("down", at::zeros({count, shape.width, hidden}));
    if (experts_.shared != 0) {
      shared_ = register_module(
          "shared", std::make_shared<SwiGluImpl>(shape.width, experts_.shared * hidden));
    }
  }

  at::Tensor forward(const at::Tensor& x) override {
    const at::Tensor tokens = x.flatten(0, 1);
    const at::Tensor logits = router_(tokens);
    const at::Tensor scores = experts_.has_sigmoid_scores ? logits.sigmoid() : logits.softmax(-1);
    const at::Tensor ids = choose(scores);
    const at::Tensor weights = scores.gather(-1, ids);
    const at::Tensor found = run_chosen(tokens, ids);
    const at::Tensor shares = weights / weights.sum(-1, /*keepdim=*/true) * experts_.scale;
    const at::Tensor y = (found * shares.unsqueeze(-1)).sum(1).view_as(x);
    return shared_ == nullptr ? y : y + shared_->forward(x);
  }

 private:
  // tokens x chosen
  at::Tensor choose(at::Tensor scores) const {
    if (correction_.defined()) scores = scores + correction_;
    if (experts_.groups != experts_.chosen_groups) {
      const at::Tensor grouped = scores.unflatten(-1, {experts_.groups, -1});
      // The score of a group is the sum of its two best.
      const at::Tensor best = std::get<0>(grouped.topk(2, -1)).sum(-1);
      const at::Tensor groups = std::get<1>(best.topk(experts_.chosen_groups, -1));
      const at::Tensor is_in = at::zeros_like(best).scatter(-1, groups, 1).to(at::kBool);
      scores = grouped
                   .masked_fill(is_in.logical_not().unsqueeze(-1),
                                -std::numeric_limits<double>::infinity())
                   .flatten(-2);
    }
    return std::get<1>(scores.topk(experts_.chosen, -1));
  }

  // tokens x chosen x width
  at::Tensor run_chosen(const at::Tensor& tokens, const at::Tensor& ids) const {
    const at::Tensor gate_up = gate_up_.index({ids});
    const at::Tensor inputs = tokens.unsqueeze(1).unsqueeze(-1);
    const std::vector<at::Tensor> halves = at::matmul(gate_up, inputs).chunk(2, 2);
    return at::matmul(down_.index({ids}), at::silu(halves[0]) * halves[1]).squeeze(-1);
  }

  ExpertsShape experts_;
  Projection router_ = nullptr;
  at::Tensor correction_;
  at::Tensor gate_up_;
  at::Tensor down_;
  std::shared_ptr<SwiGluImpl> shared_;
};

std::shared_ptr<CachedAttentionImpl> make_attention(const DecoderShape& shape) {
  if (shape.latent) return std::make_shared<LatentAttentionImpl>(shape);
  return std::make_shared<GroupedAttentionImpl>(shape);
}

std::shared_ptr<FeedForwardImpl> make_feed_forward(const DecoderShape& shape, int64_t layer) {
  const bool has_experts = shape.experts && layer >= shape.experts->dense_layers;
  if (has_experts) return std::make_shared<ExpertsImpl>(shape);
  return std::make_shared<SwiGluImpl>(shape.width, shape.hidden);
}

class DecoderLayerImpl : public torch::nn::Module {
 public:
  DecoderLayerImpl(const DecoderShape& shape, int64_t index)
      : norm1_(register_module("norm1", RmsNorm(shape.width))),
        attention_(register_module("attention", make_attention(shape))),
        norm2_(register_module("norm2", RmsNorm(shape.width))),
        feed_forward_(register_module("feed_forward", make_feed_forward(shape, index))) {}

  at::Tensor forward(const at::Tensor& x, const Places& places) {
    const at::Tensor attended = x + attention_->forward(norm1_(x), places);
    return attended + feed_forward_->forward(norm2_(attended));
  }

 private:
  RmsNorm norm1_;
  std::shared_ptr<CachedAttentionImpl> attention_;
  RmsNorm norm2_;
  std::shared_ptr<FeedForwardImpl> feed_forward_;
};
TORCH_MODULE(DecoderLayer);

// Su et al., RoFormer, 2021.
at::Tensor rotary_frequencies(const DecoderShape& shape) {
  const int64_t width = shape.rotary_width();
  return at::pow(shape.rotary_base, at::arange(0, -width, -2) / static_cast<double>(width));
}

}  // namespace

DecoderImpl::DecoderImpl(const DecoderShape& shape)
    : positions_(shape.positions),
      frequencies_(register_buffer("frequencies", rotary_frequencies(shape))),
      embedding_(register_module("embedding", torch::nn::Embedding(shape.vocabulary, shape.width))),
      norm_(register_module("norm", RmsNorm(shape.width))),
      head_(register_module("head", unbiased(shape.width, shape.vocabulary))) {
  for (int64_t i = 0; i < shape.layers; ++i) layers_->push_back(DecoderLayer(shape, i));
}

std::vector<ModelInput> decoder_inputs(const DecoderShape& shape, int64_t length) {
  return {indices("tokens", {1, length}, shape.vocabulary),
          indices("start", {1}, shape.positions - length + 1)};
}

at::Tensor DecoderImpl::forward(const at::Tensor& tokens, const at::Tensor& start) {
  const at::Tensor positions = start + at::arange(tokens.size(1), at::kLong);
  const at::Tensor half = positions.unsqueeze(-1) * frequencies_;
  const at::Tensor angles = at::cat({half, half}, -1);
  const at::Tensor mask = at::arange(positions_, at::kLong) <= positions.unsqueeze(-1);
  const Places places = {positions, angles.cos(), angles.sin(), mask};
  at::Tensor x = embedding_(tokens);
  for (const auto& layer : *layers_) x = layer->as<DecoderLayer>()->forward(x, places);
  return head_(norm_(x));
}

}  // namespace torch_ir
