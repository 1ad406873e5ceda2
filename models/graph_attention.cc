#include <torch/nn.h>

#include "models/blocks/layers.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

class GraphAttentionLayerImpl : public nn::Module {
 public:
  GraphAttentionLayerImpl(int64_t in_features, int64_t features, int64_t heads)
      : in_features_(in_features), features_(features), heads_(heads) {}

  // `edges` (2 x count) has sources and targets.
  at::Tensor forward(const at::Tensor& nodes, const at::Tensor& edges) {
    const at::Tensor x = projection_(nodes).view({-1, heads_, features_});
    const at::Tensor from = edges.select(0, 0);
    const at::Tensor to = edges.select(0, 1);
    const at::Tensor scores = at::leaky_relu(
        (x * from_).sum(-1).index_select(0, from) + (x * to_).sum(-1).index_select(0, to), 0.2);
    const at::Tensor shares = softmax_at(scores, to, x.size(0));
    const at::Tensor messages = x.index_select(0, from) * shares.unsqueeze(-1);
    return at::zeros({x.size(0), heads_, features_}).index_add(0, to, messages).flatten(1);
  }

 private:
  at::Tensor softmax_at(const at::Tensor& scores, const at::Tensor& to, int64_t nodes) const {
    const at::Tensor zeros = at::zeros({nodes, heads_});
    const at::Tensor places = to.unsqueeze(1).expand_as(scores);
    const at::Tensor most = zeros.scatter_reduce(0, places, scores, "amax", /*include_self=*/false);
    const at::Tensor weights = at::exp(scores - most.index_select(0, to));
    const at::Tensor sums = zeros.index_add(0, to, weights);
    return weights / sums.index_select(0, to);
  }

  const int64_t in_features_;
  const int64_t features_;
  const int64_t heads_;
  Projection projection_ = register_module("projection", unbiased(in_features_, heads_* features_));
  at::Tensor from_ = register_parameter("from", at::zeros({heads_, features_}));
  at::Tensor to_ = register_parameter("to", at::zeros({heads_, features_}));
};
TORCH_MODULE(GraphAttentionLayer);

// Velickovic et al., Graph Attention Networks, 2017.
class GraphAttentionImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& nodes, const at::Tensor& edges) {
    return layer2_(at::elu(layer1_(nodes, edges)), edges);
  }

 private:
  GraphAttentionLayer layer1_ = register_module("layer1", GraphAttentionLayer(16, 8, 4));
  GraphAttentionLayer layer2_ = register_module("layer2", GraphAttentionLayer(32, 7, 1));
};
TORCH_MODULE(GraphAttention);

REGISTER_MODEL(GraphAttention,
               {.inputs = {{.name = "nodes", .shape = {20, 16}}, indices("edges", {2, 64}, 20)},
                .categories = {"graphs", "attention", "multi_io"},
                .description = "GAT: attention along the edges of a graph"});

}  // namespace
}  // namespace torch_ir
