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
                   .description = "Llama: grouped queries, rotary positions, a cache"});

REGISTER_MODEL_AS(Llama405B, "Llama-3.1-405B", Decoder(kLlama405BShape),
                  {.inputs = decoder_inputs(kLlama405BShape, 1),
                   .categories = {"language", "generation", "attention"},
                   .description = "Llama 3.1: the next token, behind up to 4,096",
                   .scale = Scale::kFull});

}  // namespace
}  // namespace torch_ir
