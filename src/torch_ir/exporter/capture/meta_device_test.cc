#include "torch_ir/exporter/meta/meta_device.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/rnn.h>
#include <torch/types.h>

#include "torch_ir/base/error.h"
#include "torch_ir/exporter/capture/lifted_constants.h"

namespace torch_ir {
namespace {

struct MaskedImpl : torch::nn::Module, LiftedConstants {
  MaskedImpl() { mask = register_constant("mask", torch::tensor({1.f, 0.f})); }
  at::Tensor forward(const at::Tensor& x) { return x * mask; }
  at::Tensor mask;
};

struct OuterImpl : torch::nn::Module, LiftedConstants {
  OuterImpl() {
    inner = register_module("inner", std::make_shared<MaskedImpl>());
    register_constant("shift", at::ones({3}));
  }
  std::shared_ptr<MaskedImpl> inner;
};

TEST(MetaDeviceGuardTest, BuildsModulesWithoutData) {
  const MetaDeviceGuard guard;
  // 4 TB of weights.
  const torch::nn::Linear linear(1 << 20, 1 << 20);
  EXPECT_TRUE(linear->weight.is_meta());
  EXPECT_EQ(linear->weight.sizes(), at::IntArrayRef({1 << 20, 1 << 20}));
  const torch::nn::LSTM lstm(16, 32);
  for (const at::Tensor& parameter : lstm->parameters()) EXPECT_TRUE(parameter.is_meta());
}

TEST(MetaDeviceGuardTest, CoversTensorsMadeFromValues) {
  const MetaDeviceGuard guard;
  EXPECT_TRUE(torch::tensor({1.f, 2.f}).is_meta());
  EXPECT_TRUE(torch::tensor({{1, 2}, {3, 4}}).is_meta());
  EXPECT_TRUE(torch::tensor(std::vector<int64_t>{1, 2}).is_meta());
  EXPECT_TRUE(torch::tensor(3.0).is_meta());
  EXPECT_TRUE(torch::arange(3).is_meta());
}

// at::tensor writes into memory that it asks for without naming a device.
TEST(MetaDeviceGuardTest, CanNotFillTensorsOfTheLowLevelInterface) {
  const MetaDeviceGuard guard;
  EXPECT_THROW(at::tensor({1.f}), c10::Error);
}

TEST(MetaDeviceGuardTest, LeavesADeviceThatIsNamed) {
  const at::Tensor real = at::ones({2});
  const MetaDeviceGuard guard;
  EXPECT_TRUE(torch::zeros({2}, torch::kCPU).is_cpu());
  EXPECT_TRUE(at::zeros_like(real).is_cpu());
  EXPECT_EQ(real.to(torch::kCPU).data_ptr(), real.data_ptr());
}

TEST(MetaDeviceGuardTest, EndsWithItsScopeAndItsThread) {
  EXPECT_FALSE(MetaDeviceGuard::is_active());
  {
    const MetaDeviceGuard outer;
    {
      const MetaDeviceGuard inner;
      EXPECT_TRUE(torch::zeros({2}).is_meta());
    }
    EXPECT_TRUE(MetaDeviceGuard::is_active());
    EXPECT_TRUE(torch::zeros({2}).is_meta());
  }
  EXPECT_FALSE(MetaDeviceGuard::is_active());
  EXPECT_TRUE(torch::zeros({2}).is_cpu());
}

TEST(LiftedConstantsTest, AreNamedByTheirPathInTheModule) {
  const OuterImpl outer;
  const std::vector<LiftedConstant> constants = list_constants(outer);
  ASSERT_EQ(constants.size(), 2u);
  EXPECT_EQ(constants[0].name, "shift");
  EXPECT_EQ(constants[1].name, "inner.mask");
  EXPECT_TRUE(constants[1].tensor.is_same(outer.inner->mask));
}

TEST(LiftedConstantsTest, HaveNoDataUnderAMetaDeviceGuard) {
  const MetaDeviceGuard guard;
  const OuterImpl outer;
  EXPECT_TRUE(outer.inner->mask.is_meta());
  EXPECT_EQ(outer.inner->mask.sizes(), at::IntArrayRef({2}));
}

TEST(LiftedConstantsTest, RefuseANameThatIsTaken) {
  struct Twice : LiftedConstants {
    Twice() {
      register_constant("mask", at::ones({1}));
      register_constant("mask", at::ones({1}));
    }
  };
  EXPECT_THAT([] { Twice(); }, testing::ThrowsMessage<Error>("duplicate constant 'mask'"));
}

}  // namespace
}  // namespace torch_ir
