// A team's library for --load-library: two models, a backend, and three operators of which the
// models use one.

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/tanh.h>
#include <torch/library.h>
#include <torch/nn/modules/linear.h>

#include <memory>

#include "harness/backend/backend.h"
#include "torch_ir/registry/registry.h"

namespace {

at::Tensor twice(const at::Tensor& x) { return at::tanh(x).mul(2); }

at::Tensor shape_of(const at::Tensor& x) { return at::empty_like(x); }

at::Tensor call_twice(const at::Tensor& x) {
  static const auto found = c10::Dispatcher::singleton()
                                .findSchemaOrThrow("myteam::twice", "")
                                .typed<at::Tensor(const at::Tensor&)>();
  return found.call(x);
}

struct TeamNetImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) { return call_twice(linear(x)); }
  torch::nn::Linear linear = register_module("linear", torch::nn::Linear(4, 3));
};
TORCH_MODULE(TeamNet);

REGISTER_MODEL(TeamNet, {.inputs = {{.shape = {2, 4}}},
                         .categories = {"team"},
                         .description = "A linear layer and an operator of the library"});
REGISTER_MODEL_AS(Wide, "TeamNetWide", TeamNet(),
                  {.inputs = {{.shape = {9, 4}}},
                   .categories = {"team"},
                   .description = "The same with more rows"});

const bool registered =
    torch_ir::register_backend("team_chip", [](const torch_ir::BackendOptions& options) {
      return std::make_unique<torch_ir::PlanBackend>(options.execution);
    });

}  // namespace

TORCH_LIBRARY(myteam, library) {
  library.def("twice(Tensor x) -> Tensor");
  library.def("thrice(Tensor x) -> Tensor");
  library.def("never(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(myteam, CPU, library) { library.impl("twice", twice); }
TORCH_LIBRARY_IMPL(myteam, Meta, library) { library.impl("twice", shape_of); }
