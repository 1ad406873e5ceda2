#include "models/blocks/decoder.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

constexpr DecoderShape kDeepSeekShape = {
    .vocabulary = 96,
    .width = 64,
    .layers = 2,
    .heads = 4,
    .hidden = 160,
    .positions = 32,
    .key_heads = 4,
    .latent =
        LatentShape{
            .query_rank = 48, .rank = 32, .plain_width = 16, .rotary_width = 8, .value_width = 16},
    .experts = ExpertsShape{.count = 16,
                            .chosen = 4,
                            .hidden = 32,
                            .shared = 1,
                            .groups = 4,
                            .chosen_groups = 2,
                            .dense_layers = 1,
                            .has_sigmoid_scores = true,
                            .scale = 2.5}};

class DeepSeekImpl : public DecoderImpl {
 public:
  DeepSeekImpl() : DecoderImpl(kDeepSeekShape) {}
};
TORCH_MODULE(DeepSeek);

REGISTER_MODEL(
    DeepSeek,
    {.inputs = {{.name = "tokens", .shape = {1, 4}, .dtype = at::kLong, .low = 0, .high = 96},
                {.name = "start", .shape = {1}, .dtype = at::kLong, .low = 0, .high = 29}},
     .categories = {"language", "generation", "attention", "mixture_of_experts"},
     .description = "DeepSeek-V3: latent attention, experts chosen by groups"});

}  // namespace
}  // namespace torch_ir
