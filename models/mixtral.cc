#include "models/blocks/decoder.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

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

}  // namespace
}  // namespace torch_ir
