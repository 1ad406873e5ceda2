#include "torch_ir/exporter/capture/model.h"

#include <torch/nn/module.h>

namespace torch_ir {

std::string class_name(const Model& model) {
  if (model.module() == nullptr) return "";
  std::string name = model.module()->name();
  if (const size_t colons = name.rfind("::"); colons != std::string::npos) {
    name.erase(0, colons + 2);
  }
  constexpr std::string_view kSuffix = "Impl";
  if (name.size() > kSuffix.size() && name.ends_with(kSuffix)) {
    name.resize(name.size() - kSuffix.size());
  }
  return name;
}

}  // namespace torch_ir
