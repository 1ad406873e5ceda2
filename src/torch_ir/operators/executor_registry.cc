#include "torch_ir/operators/executor_registry.h"

#include <map>
#include <mutex>
#include <utility>

#include "torch_ir/operators/python_operators.h"

namespace torch_ir {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, OpExecutor> executors = python_operators();
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
