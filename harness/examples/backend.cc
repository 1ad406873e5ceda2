// An example backend in C++: a chip that keeps its tensors in bfloat16.
//
//   bfloat16_harness --executor bfloat16 --model DeepResNet
//
// A backend needs a class with `run`, registered under a name and linked with //harness:main (and
// //models, or your own models).

#include "harness/backend/backend.h"

#include "torch_ir/runtime/execution_plan.h"

namespace {

using torch_ir::Backend;
using torch_ir::BackendOptions;
using torch_ir::Case;
using torch_ir::StateDict;

at::Tensor rounded(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_floating_point()) return tensor;
  return tensor.to(at::kBFloat16).to(tensor.scalar_type());
}

std::vector<at::Tensor> rounded(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> result;
  for (const at::Tensor& tensor : tensors) result.push_back(rounded(tensor));
  return result;
}

StateDict rounded(const StateDict& tensors) {
  StateDict result;
  for (const auto& item : tensors) result.insert(item.key(), rounded(item.value()));
  return result;
}

class Bfloat16Backend : public Backend {
 public:
  explicit Bfloat16Backend(const BackendOptions& options) : execution_(options.execution) {}

  std::vector<at::Tensor> run(const Case& graph_case) override {
    Case on_chip = graph_case;
    on_chip.weights = rounded(graph_case.weights);
    on_chip.constants = rounded(graph_case.program->constants);
    return rounded(torch_ir::compile(on_chip, execution_).run(rounded(graph_case.inputs)));
  }

 private:
  torch_ir::ExecutionOptions execution_;
};

const bool registered = torch_ir::register_backend("bfloat16", [](const BackendOptions& options) {
  return std::make_unique<Bfloat16Backend>(options);
});

}  // namespace
