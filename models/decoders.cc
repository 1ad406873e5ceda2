#include "models/blocks/decoder.h"
#include "models/blocks/published_decoders.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

constexpr DecoderShape kLlamaShape = {.vocabulary = 96,
                                      .width = 64,
                                      .layers = 2,
                                      .heads = 4,
                                      .hidden = 160,
                                      .positions = 32,
                                      .key_heads = 2};

REGISTER_MODEL_AS(Llama, "Llama", Decoder(kLlamaShape),
                  {.inputs = decoder_inputs(kLlamaShape, 8),
                   .categories = {"language", "generation", "attention"},
                   .description = "Llama: grouped-query attention, rotary embeddings, a cache"});

REGISTER_MODEL_AS(Llama405B, "Llama-3.1-405B", Decoder(kLlama405BShape),
                  {.inputs = decoder_inputs(kLlama405BShape, 1),
                   .categories = {"language", "generation", "attention"},
                   .description = "Llama 3.1: the next token after up to 4,096 others",
                   .scale = Scale::kFull});

constexpr DecoderShape kMixtralShape = {
    .vocabulary = 96,
    .width = 64,
    .layers = 2,
    .heads = 4,
    .hidden = 0,
    .positions = 32,
    .key_heads = 2,
    .experts = ExpertsShape{.count = 8, .chosen = 2, .hidden = 96}};

REGISTER_MODEL_AS(Mixtral, "Mixtral", Decoder(kMixtralShape),
                  {.inputs = decoder_inputs(kMixtralShape, 4),
                   .categories = {"language", "generation", "attention", "mixture_of_experts"},
                   .description = "Mixtral: two of eight experts for each token"});

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

REGISTER_MODEL_AS(DeepSeek, "DeepSeek", Decoder(kDeepSeekShape),
                  {.inputs = decoder_inputs(kDeepSeekShape, 4),
                   .categories = {"language", "generation", "attention", "mixture_of_experts"},
                   .description = "DeepSeek-V3: latent attention, experts chosen by groups"});

REGISTER_MODEL_AS(DeepSeekV3, "DeepSeek-V3", Decoder(kDeepSeekV3Shape),
                  {.inputs = decoder_inputs(kDeepSeekV3Shape, 1),
                   .categories = {"language", "generation", "attention", "mixture_of_experts"},
                   .description = "DeepSeek-V3: the next token, by 8 of 256 experts",
                   .scale = Scale::kFull});

REGISTER_MODEL_AS(KimiK2, "Kimi-K2", Decoder(kKimiK2Shape),
                  {.inputs = decoder_inputs(kKimiK2Shape, 1),
                   .categories = {"language", "generation", "attention", "mixture_of_experts"},
                   .description = "Kimi K2: the next token, by 8 of 384 experts",
                   .scale = Scale::kFull});

}  // namespace
}  // namespace torch_ir
