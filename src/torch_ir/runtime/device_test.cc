#include "torch_ir/runtime/device.h"

#include <ATen/ops/ones.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using ::testing::ThrowsMessage;

TEST(ParseDevice, TakesTheCpu) {
  EXPECT_EQ(parse_device("cpu"), c10::Device(c10::kCPU));
  EXPECT_EQ(parse_device("cpu:0"), c10::Device(c10::kCPU, 0));
}

bool has_cuda() {
  return c10::impl::hasDeviceGuardImpl(c10::kCUDA) &&
         c10::impl::getDeviceGuardImpl(c10::kCUDA)->deviceCount() > 0;
}

TEST(ParseDevice, RefusesWhatCannotCompute) {
  std::map<std::string, std::string> errors = {
      {"meta", "cannot use device 'meta': this LibTorch finds no meta device here; use cpu"},
      {"cpu:1", "cannot use device 'cpu:1': the last cpu device here is cpu:0"}};
  for (const std::string name : {"", "gpu", "cuda:", "cuda:x", "CPU", "cpu,cpu"}) {
    errors[name] = "invalid device '" + name + "'; expected cpu, cuda or cuda:INDEX";
  }
  if (!has_cuda()) {
    errors["cuda:1"] =
        "cannot use device 'cuda:1': this LibTorch finds no cuda device here; use cpu";
  }
  for (const auto& [name, error] : errors) {
    EXPECT_THAT([&] { parse_device(name); }, ThrowsMessage<Error>(error));
  }
}

TEST(ParseDevice, TakesCudaWhereItIs) {
  if (!has_cuda()) GTEST_SKIP() << "there is no CUDA device";
  EXPECT_EQ(parse_device("cuda"), c10::Device(c10::kCUDA));
  EXPECT_THAT([] { parse_device("cuda:99"); },
              ThrowsMessage<Error>(testing::StartsWith("cannot use device 'cuda:99': the last ")));
}

TEST(ToDevice, CopiesOnlyToAnotherDevice) {
  const at::Tensor x = at::ones({2});
  for (const std::optional<c10::Device>& device :
       {std::optional<c10::Device>(), std::optional<c10::Device>(c10::kCPU)}) {
    const std::vector<at::Tensor> moved = to_device({x, at::Tensor()}, device);
    EXPECT_TRUE(moved.at(0).is_same(x));
    EXPECT_FALSE(moved.at(1).defined());
  }
  EXPECT_TRUE(to_device({x}, c10::Device(c10::kMeta)).at(0).is_meta());
}

}  // namespace
}  // namespace torch_ir
