#include "models/blocks/transformer_layer.h"

#include <torch/nn.h>

namespace torch_ir {

TransformerLayerImpl::TransformerLayerImpl(const TransformerShape& shape)
    : shape_(shape),
      norm1_(register_module("norm1", layer_norm(shape.width))),
      attention_(register_module("attention", MultiHeadAttention(AttentionShape{
                                                  .width = shape.width,
                                                  .heads = shape.heads,
                                                  .has_bias = !shape.is_parallel,
                                                  .normalizes_queries = shape.is_parallel}))),
      up_(register_module("up", Projection(shape.width, shape.hidden.value_or(4 * shape.width)))),
      down_(register_module("down",
                            Projection(shape.hidden.value_or(4 * shape.width), shape.width))) {
  if (!shape.is_parallel) norm2_ = register_module("norm2", layer_norm(shape.width));
}

at::Tensor TransformerLayerImpl::forward(const at::Tensor& x) {
  if (shape_.is_parallel) {
    const at::Tensor normed = norm1_(x);
    return x + attend(normed) + transform(normed);
  }
  if (shape_.normalizes_sums) {
    const at::Tensor attended = norm1_(x + attend(x));
    return norm2_(attended + transform(attended));
  }
  const at::Tensor attended = x + attend(norm1_(x));
  return attended + transform(norm2_(attended));
}

at::Tensor TransformerLayerImpl::attend(const at::Tensor& x) {
  return attention_(x, x, std::nullopt, shape_.is_causal);
}

at::Tensor TransformerLayerImpl::transform(const at::Tensor& x) { return down_(at::gelu(up_(x))); }

TransformerStackImpl::TransformerStackImpl(int64_t num_layers, const TransformerShape& shape) {
  for (int64_t i = 0; i < num_layers; ++i) layers_->push_back(TransformerLayer(shape));
}

at::Tensor TransformerStackImpl::forward(at::Tensor x) {
  for (const auto& layer : *layers_) x = layer->as<TransformerLayer>()->forward(x);
  return x;
}

}  // namespace torch_ir
