// Devices by name, and values on them.
//
// Called by whoever lets a user choose where a graph runs: the command line and the harness.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <optional>
#include <string>
#include <vector>

namespace torch_ir {

// "cpu", "cuda", "cuda:1". Throws Error, with what to do, for what is no device, or none that
// can compute here.
c10::Device parse_device(const std::string& name);

// `tensors` on `device`; as they are where none is given, or where they are there already.
std::vector<at::Tensor> to_device(std::vector<at::Tensor> tensors,
                                  const std::optional<c10::Device>& device);

}  // namespace torch_ir
