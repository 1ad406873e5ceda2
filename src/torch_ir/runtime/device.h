// Devices by name, and values on them.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <optional>
#include <string>
#include <vector>

namespace torch_ir {

// Parses "cpu", "cuda" or "cuda:1". Throws Error, with advice, for an invalid name or a device
// that cannot compute here.
c10::Device parse_device(const std::string& name);

// Moves `tensors` to `device`; returns them as they are without one.
std::vector<at::Tensor> to_device(std::vector<at::Tensor> tensors,
                                  const std::optional<c10::Device>& device);

}  // namespace torch_ir
