// NamedRegistry: functions by name. Thread-safe; make it a static of a function, as registrations
// run before main, in any order.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace torch_ir {

template <class Function>
class NamedRegistry {
 public:
  explicit NamedRegistry(std::map<std::string, Function> all = {}) : functions_(std::move(all)) {}

  // An empty function removes the name. Returns false if it is taken and must not be replaced.
  bool set(const std::string& name, Function function, bool replaces = true) {
    const std::lock_guard lock(mutex_);
    if (replaces) functions_.erase(name);
    return !function || functions_.emplace(name, std::move(function)).second;
  }
  // Returns an empty function if there is none.
  Function find(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = functions_.find(name);
    return found == functions_.end() ? Function() : found->second;
  }
  std::vector<std::string> names() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, function] : functions_) names.push_back(name);
    return names;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Function> functions_;
};

}  // namespace torch_ir
