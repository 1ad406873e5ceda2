#include "torch_ir/base/version.h"

#include <torch/version.h>

namespace torch_ir {

std::string version_text(const std::string& program) {
  return program + " 0.1.0 (LibTorch " TORCH_VERSION ")";
}

}  // namespace torch_ir
