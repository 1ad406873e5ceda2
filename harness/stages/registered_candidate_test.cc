#include <gmock/gmock.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include "harness/stages/candidate.h"
#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(RegisteredCandidateTest, ObservesTheNodesOfTheGraphAsLongAsTheModelCallsThem) {
  bool has_changed = false;
  const RegisteredModel model{
      .name = "Changing", .spec = {.inputs = {{.name = "x", .shape = {4}}}}, .make = [&] {
        return Model(ModelFn([&](const std::vector<at::Tensor>& inputs) {
          const at::Tensor y = at::relu(inputs[0]);
          return std::vector<at::Tensor>{has_changed ? at::exp(y) : at::neg(y)};
        }));
      }};
  const auto candidate = make_candidate(model, 0);
  candidate->extract();
  std::vector<std::string> names;
  const auto observe = [&] {
    candidate->observe(candidate->inputs(0),
                       [&](const std::string& name, const at::Tensor&) { names.push_back(name); });
  };
  has_changed = true;
  EXPECT_THAT(observe, ThrowsMessage<ExportError>(HasSubstr(
                           "node 1 of the graph is 'neg' (aten.neg.default), but the model calls "
                           "'exp' (aten.exp.default)")));
  has_changed = false;
  observe();
  EXPECT_THAT(names, ElementsAre("x", "relu", "neg"));
}

struct UnregisteredImpl : torch::nn::Module {
  at::Tensor forward(const at::Tensor& x) { return x * scale + torch::tensor({9.f, 9.f}); }
  at::Tensor scale = torch::tensor({1.f, 2.f});
};
TORCH_MODULE(Unregistered);

TEST(RegisteredCandidateTest, TakesUnregisteredConstantsFromTheModel) {
  RegisteredModel model{.name = "Unregistered",
                        .spec = {.inputs = {{.name = "x", .shape = {2}}}},
                        .make = [] { return Model(Unregistered()); }};
  const IR ir = make_candidate(model, 0)->extract();
  EXPECT_TRUE(at::equal(ir.constants["lifted_tensor_0"], torch::tensor({1.f, 2.f})));
  EXPECT_TRUE(at::equal(ir.constants["lifted_tensor_1"], torch::tensor({9.f, 9.f})));
  // Its values would need the model itself.
  model.spec.scale = Scale::kFull;
  EXPECT_THAT([&] { make_candidate(model, 0)->extract(); },
              ThrowsMessage<ExportError>(HasSubstr(
                  "model 'Unregistered': constant 'lifted_tensor_0' (float32 [2]), read by node "
                  "'mul', has no values")));
}

}  // namespace
}  // namespace torch_ir
