#include "harness/backend/backend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <mutex>
#include <utility>

#include "harness/backend/command_backend.h"
#include "harness/backend/plan_backend.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, BackendFactory> factories;
};

// Made at the first use: registrations run before main, in any order.
Registry& registry() {
  static Registry instance;
  return instance;
}

BackendFactory find_factory(const std::string& name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.factories.find(name);
  return found == all.factories.end() ? nullptr : found->second;
}

}  // namespace

std::unique_ptr<NodeValues> Backend::values(const IR& /*ir*/, const StateDict& /*weights*/,
                                            const std::vector<at::Tensor>& /*inputs*/) {
  return nullptr;
}

bool register_backend(const std::string& name, BackendFactory make) {
  if (name.empty()) throw Error("a backend needs a name");
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (!all.factories.emplace(name, std::move(make)).second) {
    throw Error(fmt::format("backend '{}' is registered twice", printable(name)));
  }
  return true;
}

std::vector<std::string> list_backends() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<std::string> names;
  for (const auto& [name, make] : all.factories) names.push_back(name);
  return names;
}

void check_backend(const std::string& name) {
  if (find_factory(name)) return;
  const std::vector<std::string> names = list_backends();
  const std::string known = names.empty()
                                ? "none is registered"
                                : fmt::format("there {} '{}'", names.size() == 1 ? "is" : "are",
                                              fmt::join(names, "', '"));
  throw Error(fmt::format("unknown backend '{}': {}", printable(name), known));
}

std::unique_ptr<Backend> make_backend(const BackendOptions& options) {
  if (!options.command.empty()) return make_command_backend(options);
  if (options.name.empty()) return std::make_unique<PlanBackend>(options.execution);
  check_backend(options.name);
  return find_factory(options.name)(options);
}

}  // namespace torch_ir
