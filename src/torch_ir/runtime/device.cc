#include "torch_ir/runtime/device.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// 0 where LibTorch lacks the code for them, or the machine the hardware.
int count_devices(c10::DeviceType type) {
  if (type == c10::DeviceType::Meta || !c10::impl::hasDeviceGuardImpl(type)) return 0;
  return c10::impl::getDeviceGuardImpl(type)->deviceCount();
}

c10::Device read_device(const std::string& name) {
  try {
    return c10::Device(name);
  } catch (const c10::Error&) {
    throw Error(
        fmt::format("invalid device '{}'; expected cpu, cuda or cuda:INDEX", printable(name)));
  }
}

}  // namespace

c10::Device parse_device(const std::string& name) {
  const c10::Device device = read_device(name);
  const int count = count_devices(device.type());
  const std::string type = c10::DeviceTypeName(device.type(), /*lower_case=*/true);
  if (count == 0) {
    throw Error(fmt::format(
        "cannot use device '{}': this LibTorch finds no {} device here; use cpu", name, type));
  }
  if (device.index() >= count) {
    throw Error(fmt::format("cannot use device '{}': the last {} device here is {}:{}", name, type,
                            type, count - 1));
  }
  return device;
}

std::vector<at::Tensor> to_device(std::vector<at::Tensor> tensors,
                                  const std::optional<c10::Device>& device) {
  if (!device) return tensors;
  for (at::Tensor& tensor : tensors) {
    if (tensor.defined()) tensor = tensor.to(*device);
  }
  return tensors;
}

}  // namespace torch_ir
