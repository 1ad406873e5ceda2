#include <torch/nn.h>

#include "torch_ir/exporter/capture/lifted_constants.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace nn = torch::nn;

class GatherWithIndexImpl : public nn::Module, public LiftedConstants {
 public:
  at::Tensor forward(const at::Tensor& x) {
    return linear_(x).index({at::indexing::Slice(), indices_});
  }

 private:
  nn::Linear linear_ = register_module("linear", nn::Linear(8, 8));
  at::Tensor indices_ = register_constant("indices", torch::tensor({0, 2, 4, 6}, torch::kLong));
};
TORCH_MODULE(GatherWithIndex);

REGISTER_MODEL(GatherWithIndex, {.inputs = {{.shape = {1, 8}}},
                                 .categories = {"lifted_constants", "specification"},
                                 .description = "Columns picked by a constant index tensor"});

}  // namespace
}  // namespace torch_ir
