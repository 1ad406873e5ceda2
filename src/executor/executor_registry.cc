#include "torch_ir/executor/executor_registry.h"

#include <fmt/format.h>

#include <iostream>
#include <map>
#include <mutex>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// The Python package records `outputs[i]` as a node of its own: its inputs are all outputs of the
// producer, and the attribute "index" says which of them it is.
std::vector<at::Tensor> getitem(const OpNode& node, const std::vector<at::Tensor>& inputs) {
  const Attribute* attribute = node.attrs.find("index");
  const auto* index = attribute == nullptr ? nullptr : attribute->get_if<int64_t>();
  if (index == nullptr) throw ExecutionError("attribute 'index' is not an integer");
  if (*index < 0 || static_cast<size_t>(*index) >= inputs.size()) {
    throw ExecutionError(fmt::format("item {} of {} does not exist", *index, inputs.size()));
  }
  return {inputs[static_cast<size_t>(*index)]};
}

// To stderr, since stdout is for results; LibTorch's own writes the text as the file has it.
std::vector<at::Tensor> print(const OpNode& node, const std::vector<at::Tensor>&) {
  const Attribute* attribute = node.attrs.find("s");
  const auto* text = attribute == nullptr ? nullptr : attribute->get_if<std::string>();
  if (text == nullptr) throw ExecutionError("attribute 's' is not a string");
  std::cerr << printable(*text) << std::endl;
  return {};
}

struct Registry {
  std::mutex mutex;
  std::map<std::string, OpExecutor> executors{{"<built-in function getitem>", getitem},
                                              {"aten._print.default", print}};
};

Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

void register_executor(const std::string& op_type, OpExecutor executor) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (executor) {
    all.executors.insert_or_assign(op_type, std::move(executor));
  } else {
    all.executors.erase(op_type);
  }
}

OpExecutor find_executor(const std::string& op_type) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.executors.find(op_type);
  return found == all.executors.end() ? OpExecutor() : found->second;
}

std::vector<std::string> list_registered_executors() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<std::string> op_types;
  for (const auto& [op_type, executor] : all.executors) op_types.push_back(op_type);
  return op_types;
}

}  // namespace torch_ir
