#include <torch/nn.h>

#include "models/blocks/layers.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

// Naumov et al., Deep Learning Recommendation Model for Personalization and Recommendation Systems,
// 2019.
class DlrmImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& numbers, const at::Tensor& users, const at::Tensor& items) {
    const at::Tensor dense = at::relu(bottom2_(at::relu(bottom1_(numbers))));
    const at::Tensor features = at::stack({dense, users_(users), items_(items)}, 1);
    const at::Tensor products = at::bmm(features, features.transpose(1, 2));
    const at::Tensor pairs =
        products.index({at::indexing::Slice(), pairs_.select(0, 0), pairs_.select(0, 1)});
    return at::sigmoid(top2_(at::relu(top1_(at::cat({dense, pairs}, 1)))));
  }

 private:
  static constexpr int64_t kWidth = 16;

  static nn::EmbeddingBag bag(int64_t words) {
    return nn::EmbeddingBag(nn::EmbeddingBagOptions(words, kWidth).mode(torch::kSum));
  }

  nn::Linear bottom1_ = register_module("bottom1", nn::Linear(13, 32));
  nn::Linear bottom2_ = register_module("bottom2", nn::Linear(32, kWidth));
  nn::EmbeddingBag users_ = register_module("users", bag(100));
  nn::EmbeddingBag items_ = register_module("items", bag(200));
  at::Tensor pairs_ = register_buffer("pairs", at::tril_indices(3, 3, -1));
  nn::Linear top1_ = register_module("top1", nn::Linear(kWidth + 3, 32));
  nn::Linear top2_ = register_module("top2", nn::Linear(32, 1));
};
TORCH_MODULE(Dlrm);

REGISTER_MODEL(Dlrm, {.inputs = {{.name = "numbers", .shape = {8, 13}},
                                 indices("users", {8, 4}, 100),
                                 indices("items", {8, 6}, 200)},
                      .categories = {"recommendation", "multi_io"},
                      .description = "DLRM: embedding bags, their dot products, two MLPs"});

}  // namespace
}  // namespace torch_ir
