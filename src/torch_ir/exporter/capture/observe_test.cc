#include "torch_ir/exporter/capture/observe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/converter/extract.h"
#include "torch_ir/exporter/capture/lifted_constants.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct ObservedMaskedImpl : torch::nn::Module, LiftedConstants {
  ObservedMaskedImpl() : fc(register_module("fc", torch::nn::Linear(4, 4))) {
    mask = register_constant("mask", torch::tensor({1.f, 0.f, 1.f, 0.f}));
  }
  torch::Tensor forward(torch::Tensor x) {
    torch::Tensor y = fc(x) * mask;
    y.add_(1);
    return 1 - y;
  }
  torch::nn::Linear fc;
  torch::Tensor mask;
};
TORCH_MODULE(ObservedMasked);

using Tensors = std::vector<torch::Tensor>;
using Told = std::vector<std::pair<std::string, torch::Tensor>>;

Told observe(const Model& model, const Tensors& inputs) {
  const IR ir = extract_ir(model, inputs, {.model_name = "Model"});
  const ObservedModel observed(model, inputs, {}, ir);
  Told told;
  observed.run(model, inputs, [&](const std::string& name, const torch::Tensor& value) {
    told.emplace_back(name, value.clone());
  });
  return told;
}

TEST(ObservedModel, TellsValuesByTheirNamesInTheGraph) {
  ObservedMasked model;
  model->eval();
  const torch::Tensor x = torch::randn({2, 4});
  const torch::Tensor kept = x.clone();
  const Told told = observe(model, {x});
  std::vector<std::string> names;
  std::map<std::string, torch::Tensor> values;
  for (const auto& [name, value] : told) {
    names.push_back(name);
    values[name] = value;
  }
  // The linear layer is two calls in C++, `1 - y` three; each is one node.
  EXPECT_THAT(names, ElementsAre("p_fc_weight", "p_fc_bias", "x", "linear", "c_mask", "mul", "add_",
                                 "rsub"));
  const torch::NoGradGuard no_grad;
  const torch::Tensor linear = model->fc(x);
  EXPECT_TRUE(values["linear"].equal(linear));
  EXPECT_TRUE(values["mul"].equal(linear * model->mask));
  EXPECT_TRUE(values["add_"].equal(linear * model->mask + 1));
  EXPECT_TRUE(values["rsub"].equal(model->forward(x)));
  EXPECT_TRUE(x.equal(kept));
}

TEST(ObservedModel, KeepsNoValueAlive) {
  const auto chain = [](const Tensors& inputs) {
    torch::Tensor x = inputs[0];
    for (int i = 0; i < 5; ++i) x = torch::neg(x);
    return Tensors{x};
  };
  const Model model{ModelFn(chain)};
  const Tensors inputs = {torch::randn({4})};
  const IR ir = extract_ir(model, inputs, {.model_name = "Model"});
  const ObservedModel observed(model, inputs, {}, ir);
  std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> storages;
  size_t most_alive = 0;
  observed.run(model, inputs, [&](const std::string&, const torch::Tensor& value) {
    storages.push_back(value.storage().getWeakStorageImpl());
    size_t alive = 0;
    for (const auto& storage : storages) alive += storage.expired() ? 0 : 1;
    most_alive = std::max(most_alive, alive);
  });
  EXPECT_EQ(storages.size(), 6U);
  // The input, what a call reads, and what it makes.
  EXPECT_LE(most_alive, 3U);
}

TEST(ObservedModel, DrawsTheRandomNumbersOfAPlainRun) {
  const Model model{ModelFn(
      [](const Tensors& inputs) { return Tensors{inputs[0] + torch::rand_like(inputs[0])}; })};
  const Tensors inputs = {torch::randn({4})};
  torch::manual_seed(3);
  const torch::Tensor expected = model(inputs)[0];
  const IR ir = extract_ir(model, inputs, {.model_name = "Model"});
  torch::manual_seed(3);
  const ObservedModel observed(model, inputs, {}, ir);
  torch::Tensor last;
  observed.run(model, inputs,
               [&](const std::string&, const torch::Tensor& value) { last = value; });
  EXPECT_TRUE(last.equal(expected));
}

TEST(ObservedModel, SaysWhereTheModelPartsFromItsGraph) {
  int64_t run = 0;
  const Model model{ModelFn([&](const Tensors& inputs) {
    const torch::Tensor y = torch::relu(inputs[0]);
    return Tensors{run == 0 ? torch::neg(y) : torch::exp(y)};
  })};
  const Tensors inputs = {torch::randn({4})};
  const IR ir = extract_ir(model, inputs, {.model_name = "Model"});
  const ObservedModel observed(model, inputs, {}, ir);
  run = 1;
  EXPECT_THAT([&] { ObservedModel(model, inputs, {}, ir); },
              ThrowsMessage<ExportError>(
                  HasSubstr("node 1 of the graph is 'neg' (aten.neg.default), the model calls "
                            "'exp' (aten.exp.default) there")));
  EXPECT_THAT([&] { observed.run(model, inputs, [](const std::string&, const torch::Tensor&) {}); },
              ThrowsMessage<ExportError>(HasSubstr(
                  "the model calls aten::exp where it called aten::neg when it ran before")));
}

}  // namespace
}  // namespace torch_ir
