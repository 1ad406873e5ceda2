// A team's model, operator and backend:
//
//   harness --load-library libteam.so --model TeamNet --executor team_chip
#include <torch/library.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>

#include <memory>
#include <vector>

#include "harness/backend/backend.h"
#include "torch_ir/torch_ir.h"

namespace {

torch::Tensor scaled(const torch::Tensor& x, double factor) { return x * factor; }

torch::Tensor call_scaled(const torch::Tensor& x, double factor) {
  static const auto found = c10::Dispatcher::singleton()
                                .findSchemaOrThrow("team::scaled", "")
                                .typed<torch::Tensor(const torch::Tensor&, double)>();
  return found.call(x, factor);
}

struct TeamNetImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) { return call_scaled(linear(x), 0.5).relu(); }
  torch::nn::Linear linear = register_module("linear", torch::nn::Linear(8, 4));
};
TORCH_MODULE(TeamNet);

REGISTER_MODEL(TeamNet, {.inputs = {{.shape = {2, 8}}},
                         .categories = {"team"},
                         .description = "A linear layer and an operator of the team"});

// A chip that runs the graph with the plans of torch-ir; yours runs it in its own way.
class TeamChip : public torch_ir::Backend {
 public:
  std::vector<at::Tensor> run(const torch_ir::Case& graph_case) override {
    return torch_ir::compile(graph_case).run(graph_case.inputs);
  }
};

const bool registered = torch_ir::register_backend(
    "team_chip", [](const torch_ir::BackendOptions&) { return std::make_unique<TeamChip>(); });

}  // namespace

TORCH_LIBRARY(team, library) { library.def("scaled(Tensor x, float factor) -> Tensor", scaled); }
