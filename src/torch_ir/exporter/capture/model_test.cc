#include "torch_ir/exporter/capture/model.h"

#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

namespace torch_ir {
namespace {

using ::testing::ThrowsMessage;

struct DoubleImpl : torch::nn::Module {
  at::Tensor forward(const at::Tensor& x) { return x + x; }
};
TORCH_MODULE(Double);

// As torch::nn::LSTM: optional inputs, nested outputs.
struct NestedImpl : torch::nn::Module {
  std::tuple<at::Tensor, std::tuple<at::Tensor, std::vector<at::Tensor>>> forward(
      const at::Tensor& x, const std::optional<at::Tensor>& y = std::nullopt) {
    return {x, {at::Tensor(), {x + 1, y ? *y : x + 2}}};
  }
};
TORCH_MODULE(Nested);

struct Plain : torch::nn::Module {
  at::Tensor forward(const at::Tensor& x, const at::Tensor& y) { return x - y; }
};

std::vector<float> values(const Model& model, const std::vector<at::Tensor>& inputs) {
  std::vector<float> values;
  for (const at::Tensor& output : model(inputs)) values.push_back(output.item<float>());
  return values;
}

const at::Tensor kOne = at::ones({});

TEST(ModelTest, RunsHoldersPointersModulesAndCallables) {
  EXPECT_EQ(values(Model(Double()), {kOne}), std::vector<float>({2}));
  EXPECT_EQ(values(Model(std::make_shared<Plain>()), {kOne, kOne + 4}), std::vector<float>({-4}));
  Plain plain;
  EXPECT_EQ(values(Model(plain), {kOne, kOne}), std::vector<float>({0}));
  const Model callable([](const std::vector<at::Tensor>& inputs) {
    return std::vector<at::Tensor>{inputs.at(0) * 3};
  });
  EXPECT_EQ(values(callable, {kOne}), std::vector<float>({3}));
}

TEST(ModelTest, FlattensOutputsAndLeavesOutUndefinedTensors) {
  EXPECT_EQ(values(Model(Nested()), {kOne}), std::vector<float>({1, 2, 3}));
  EXPECT_EQ(values(Model(Nested()), {kOne, kOne + 8}), std::vector<float>({1, 2, 9}));
  const Model callable([](const std::vector<at::Tensor>& inputs) {
    return std::vector<at::Tensor>{at::Tensor(), inputs.at(0)};
  });
  EXPECT_EQ(values(callable, {kOne}), std::vector<float>({1}));
}

struct PairsImpl : torch::nn::Module {
  std::vector<std::pair<at::Tensor, std::array<at::Tensor, 2>>> forward(
      const at::Tensor& x, const at::Tensor& y, const std::optional<at::Tensor>& = {}) {
    return {{x, {y, at::Tensor()}}, {x + y, {x - y, x}}};
  }
};
TORCH_MODULE(Pairs);

TEST(ModelTest, FlattensPairsAndArrays) {
  EXPECT_EQ(values(Model{Pairs()}, {kOne, kOne + 1}), std::vector<float>({1, 2, 3, -1, 1}));
}

TEST(ModelTest, RefusesANumberOfInputsThatForwardDoesNotTake) {
  EXPECT_THAT([] { Model{Double()}({kOne, kOne}); },
              ThrowsMessage<ExportError>("forward takes 1 tensor, 2 given"));
  EXPECT_THAT([] { Model{Pairs()}({kOne}); },
              ThrowsMessage<ExportError>("forward takes 2 or 3 tensors, 1 given"));
}

TEST(ModelTest, IsCalledAsItsClass) {
  EXPECT_EQ(class_name(Model(Double())), "Double");
  EXPECT_EQ(class_name(Model(std::make_shared<Plain>())), "Plain");
  EXPECT_EQ(class_name(Model([](const std::vector<at::Tensor>& inputs) { return inputs; })), "");
}

}  // namespace
}  // namespace torch_ir
