// TensorRegistry: tensors by name, as in the Python package.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace torch_ir {

class TensorRegistry {
 public:
  // Replaces a tensor of the same name.
  void set(const std::string& name, at::Tensor tensor) {
    tensors_.insert_or_assign(name, std::move(tensor));
  }
  std::optional<at::Tensor> get(const std::string& name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? std::nullopt : std::optional(found->second);
  }
  bool has(const std::string& name) const { return tensors_.contains(name); }
  void clear() { tensors_.clear(); }

 private:
  std::unordered_map<std::string, at::Tensor> tensors_;
};

}  // namespace torch_ir
