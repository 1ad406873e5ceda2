// TensorRegistry: tensors by name.
//
// What the Python package calls its name-to-tensor mapping. Compiling a plan gathers in one what
// the caller supplies under the names of the graph; anyone may use one to keep named tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace torch_ir {

class TensorRegistry {
 public:
  // Registers `tensor` under `name`, in place of what was there.
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
