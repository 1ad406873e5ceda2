#include "models/blocks/attention.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

class CrossAttentionImpl : public Attention {
 public:
  at::Tensor forward(const at::Tensor& query, const at::Tensor& context) {
    return attend(query, context);
  }
};
TORCH_MODULE(CrossAttention);

REGISTER_MODEL(CrossAttention, {.inputs = {{.name = "query", .shape = {1, 16, 64}},
                                           {.name = "context", .shape = {1, 32, 64}}},
                                .categories = {"attention", "multi_io", "specification"},
                                .description = "Cross-attention"});

}  // namespace
}  // namespace torch_ir
