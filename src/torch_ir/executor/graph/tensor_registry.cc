#include "torch_ir/executor/graph/tensor_registry.h"

#include <utility>

namespace torch_ir {

void TensorRegistry::set(const std::string& name, at::Tensor tensor) {
  tensors_.insert_or_assign(name, std::move(tensor));
}

std::optional<at::Tensor> TensorRegistry::get(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) return std::nullopt;
  return found->second;
}

bool TensorRegistry::has(const std::string& name) const { return tensors_.contains(name); }

void TensorRegistry::clear() { tensors_.clear(); }

}  // namespace torch_ir
