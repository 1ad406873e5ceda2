#include "models/blocks/decoder.h"
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

class LlamaImpl : public DecoderImpl {
 public:
  LlamaImpl() : DecoderImpl(kLlamaShape) {}
};
TORCH_MODULE(Llama);

REGISTER_MODEL(
    Llama,
    {.inputs = {{.name = "tokens", .shape = {1, 8}, .dtype = at::kLong, .low = 0, .high = 96},
                {.name = "start", .shape = {1}, .dtype = at::kLong, .low = 0, .high = 25}},
     .categories = {"language", "generation", "attention"},
     .description = "Llama: grouped queries, rotary positions, a cache"});

}  // namespace
}  // namespace torch_ir
