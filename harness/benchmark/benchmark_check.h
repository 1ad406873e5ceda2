// Whether an engine of the benchmarks computes what eager computes: checked before it is timed.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace torch_ir {

enum class Agreement {
  // The bits of eager.
  kBits,
  // Within 1e-4, absolute and relative.
  kClose,
};

// What is wrong with `outputs`, where `expected` are eager's; empty when they agree.
std::string disagreement(const std::vector<at::Tensor>& outputs,
                         const std::vector<at::Tensor>& expected, Agreement agreement);

}  // namespace torch_ir
