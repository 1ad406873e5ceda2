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

class MixtralImpl : public DecoderImpl {
 public:
  MixtralImpl() : DecoderImpl(kMixtralShape) {}
};
TORCH_MODULE(Mixtral);

REGISTER_MODEL(
    Mixtral,
    {.inputs = {{.name = "tokens", .shape = {1, 4}, .dtype = at::kLong, .low = 0, .high = 96},
                {.name = "start", .shape = {1}, .dtype = at::kLong, .low = 0, .high = 29}},
     .categories = {"language", "generation", "attention", "mixture_of_experts"},
     .description = "Mixtral: two of eight experts for each token"});

}  // namespace
}  // namespace torch_ir
