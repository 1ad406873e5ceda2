#include <torch/nn.h>

#include "models/blocks/projection.h"
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

}  // namespace
}  // namespace torch_ir
