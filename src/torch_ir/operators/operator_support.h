// operator_support: how an operator runs in this process.
#pragma once

#include <string>

namespace torch_ir {

struct OperatorSupport {
  bool is_supported;
  // "kernel for CPU", "composite of other operators", "unknown to LibTorch 2.13.0".
  std::string description;
};

// What compile() and a run would make of a node of `op_type`, on the CPU.
OperatorSupport operator_support(const std::string& op_type);

}  // namespace torch_ir
