#include "models/blocks/attention.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

class SelfAttentionImpl : public Attention {
 public:
  at::Tensor forward(const at::Tensor& x) { return attend(x, x); }
};
TORCH_MODULE(SelfAttention);

REGISTER_MODEL(SelfAttention, {.inputs = {{.shape = {1, 16, 64}}},
                               .categories = {"attention", "specification"},
                               .description = "Basic self-attention"});

}  // namespace
}  // namespace torch_ir
