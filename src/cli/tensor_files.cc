#include "torch_ir/cli/tensor_files.h"

#include <algorithm>

#include "torch_ir/base/error.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

// "'a', 'b', 'c', ... and 7 more"; "nothing" for none.
std::string list_names(const std::vector<std::string>& names) {
  constexpr size_t kMaxNames = 8;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMaxNames); ++i) {
    text += (i == 0 ? "'" : ", '") + names[i] + "'";
  }
  if (names.size() > kMaxNames)
    text += " and " + std::to_string(names.size() - kMaxNames) + " more";
  return names.empty() ? "nothing" : text;
}

std::vector<std::string> names_of(const std::vector<TensorMeta>& values) {
  std::vector<std::string> names;
  for (const TensorMeta& value : values) names.push_back(value.name);
  return names;
}

}  // namespace

std::vector<at::Tensor> read_tensor_file(const std::string& path,
                                         const std::vector<TensorMeta>& values,
                                         const std::string& what) {
  const StateDict file = load_weights(path);
  const std::vector<std::string> names = names_of(values);
  for (const auto& item : file) {
    if (std::ranges::find(names, item.key()) != names.end()) continue;
    throw Error(path + ": the graph has no " + what + " '" + item.key() + "'; its " + what +
                "s are " + list_names(names));
  }
  std::vector<at::Tensor> tensors;
  for (const std::string& name : names) {
    const at::Tensor* tensor = file.find(name);
    if (tensor == nullptr) {
      throw Error(path + ": no tensor for the graph's " + what + " '" + name + "'; the file has " +
                  list_names(file.keys()));
    }
    tensors.push_back(*tensor);
  }
  return tensors;
}

void write_tensor_file(const std::string& path, const std::vector<TensorMeta>& values,
                       const std::vector<at::Tensor>& tensors) {
  StateDict file;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!file.contains(values[i].name)) file.insert(values[i].name, tensors[i]);
  }
  save_weights_safetensors(file, path);
}

}  // namespace torch_ir
