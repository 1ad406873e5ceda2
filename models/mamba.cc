#include <torch/nn.h>

#include "models/blocks/layers.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

// A state space whose parameters the input selects, step by step.
class SelectiveScanImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& x) {
    const std::vector<at::Tensor> parts = in_(x).chunk(2, -1);
    // Drop the padding after the sequence.
    const at::Tensor mixed =
        conv_(parts[0].transpose(1, 2)).slice(-1, 0, x.size(1)).transpose(1, 2);
    return out_(scan(at::silu(mixed)) * at::silu(parts[1]));
  }

 private:
  static constexpr int64_t kWidth = 32;
  static constexpr int64_t kInner = 64;
  static constexpr int64_t kStates = 8;
  static constexpr int64_t kRank = 4;

  at::Tensor scan(const at::Tensor& u) {
    const std::vector<at::Tensor> selected =
        select_(u).split_with_sizes({kRank, kStates, kStates}, -1);
    const at::Tensor delta = at::softplus(delta_(selected[0])).unsqueeze(-1);
    const at::Tensor decay = at::exp(delta * -at::exp(a_log_));
    const at::Tensor input = delta * selected[1].unsqueeze(2) * u.unsqueeze(-1);
    at::Tensor state = at::zeros({u.size(0), kInner, kStates});
    std::vector<at::Tensor> outputs;
    for (int64_t i = 0; i < u.size(1); ++i) {
      state = decay.select(1, i) * state + input.select(1, i);
      outputs.push_back((state * selected[2].select(1, i).unsqueeze(1)).sum(-1));
    }
    return at::stack(outputs, 1) + u * d_;
  }

  Projection in_ = register_module("in", unbiased(kWidth, 2 * kInner));
  nn::Conv1d conv_ = register_module(
      "conv", nn::Conv1d(nn::Conv1dOptions(kInner, kInner, 4).padding(3).groups(kInner)));
  Projection select_ = register_module("select", unbiased(kInner, kRank + 2 * kStates));
  Projection delta_ = register_module("delta", Projection(kRank, kInner));
  at::Tensor a_log_ = register_parameter("a_log", at::zeros({kInner, kStates}));
  at::Tensor d_ = register_parameter("d", at::ones({kInner}));
  Projection out_ = register_module("out", unbiased(kInner, kWidth));
};
TORCH_MODULE(SelectiveScan);

// Gu and Dao, Mamba: Linear-Time Sequence Modeling with Selective State Spaces, 2023.
class MambaImpl : public nn::Module {
 public:
  at::Tensor forward(const at::Tensor& tokens) {
    at::Tensor x = embedding_(tokens);
    x = x + scan1_(norm1_(x));
    x = x + scan2_(norm2_(x));
    return head_(norm_(x));
  }

 private:
  nn::Embedding embedding_ = register_module("embedding", nn::Embedding(96, 32));
  RmsNorm norm1_ = register_module("norm1", RmsNorm(32));
  SelectiveScan scan1_ = register_module("scan1", SelectiveScan());
  RmsNorm norm2_ = register_module("norm2", RmsNorm(32));
  SelectiveScan scan2_ = register_module("scan2", SelectiveScan());
  RmsNorm norm_ = register_module("norm", RmsNorm(32));
  Projection head_ = register_module("head", unbiased(32, 96));
};
TORCH_MODULE(Mamba);

REGISTER_MODEL(Mamba, {.inputs = {{.shape = {1, 8}, .dtype = at::kLong, .low = 0, .high = 96}},
                       .categories = {"language", "generation", "state_space"},
                       .description = "Mamba: a scan with input-dependent parameters"});

}  // namespace
}  // namespace torch_ir
