#include "harness/backend/backend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "harness/backend/command_backend.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/runtime/device.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/graph/graph_memory.h"
#include "torch_ir/runtime/interpreter/node_run.h"

namespace torch_ir {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, BackendFactory> factories;
};

// Made at first use: registrations run before main, in any order.
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

class PlanValues : public NodeValues {
 public:
  PlanValues(const IR& ir, const StateDict& weights, const std::vector<at::Tensor>& inputs,
             const ExecutionOptions& options)
      : run_(ir, weights, inputs, options) {}

  at::Tensor next(const std::string& name) override { return run_.value(name); }

 private:
  NodeRun run_;
};

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
    throw Error(fmt::format("duplicate backend '{}'", printable(name)));
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
                                ? "no backend is linked into this program"
                                : fmt::format("expected one of: {}", fmt::join(names, ", "));
  throw Error(fmt::format("unknown backend '{}'; {}", printable(name), known));
}

std::unique_ptr<Backend> open_backend(const RunSettings& settings, const std::string& directory) {
  const BackendOptions options{
      .execution = {.optimization = settings.optimization, .device = settings.device},
      .directory = directory + "/backend"};
  if (runs_plans(settings)) return std::make_unique<PlanBackend>(options.execution);
  std::error_code error;
  std::filesystem::create_directories(options.directory, error);
  if (error) throw OutputError("cannot create '" + options.directory + "': " + error.message());
  if (!settings.executor.empty()) return make_command_backend(settings, options.directory);
  check_backend(settings.backend);
  return find_factory(settings.backend)(options);
}

std::vector<at::Tensor> run_grouped(Backend& backend, const std::string& name, const IR& ir,
                                    const StateDict& weights, const std::vector<at::Tensor>& inputs,
                                    std::vector<NodeGroup>& groups) {
  std::vector<at::Tensor> outputs;
  std::exception_ptr failure;
  try {
    outputs = backend.run(ir, weights, inputs);
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  bool are_read = false;
  try {
    groups = backend.groups();
    are_read = true;
    if (!groups.empty()) {
      const Program program = resolve(ir);
      group_nodes(program, memory_of(program, weights), groups);
    }
  } catch (const Error& error) {
    // A command that fails may leave half of its file.
    if (are_read || !failure) {
      throw InputError(fmt::format("'{}': {}", printable(name), error.what()));
    }
  }
  if (failure) std::rethrow_exception(failure);
  return outputs;
}

// A plan, and copies of its graph and weights. Addresses do not identify a graph: an equal graph
// may have another one, and a different graph the same one.
struct PlanBackend::Compiled {
  Compiled(const IR& graph, const StateDict& tensors, const ExecutionOptions& options)
      : ir(graph), weights(tensors), plan(compile(graph, tensors, StateDict(), options)) {}

  bool is_of(const IR& graph, const StateDict& tensors) const {
    return has_same_tensors(weights, tensors) && ir == graph;
  }

  IR ir;
  StateDict weights;
  ExecutionPlan plan;
};

PlanBackend::PlanBackend(const ExecutionOptions& options) : options_(options) {}
PlanBackend::~PlanBackend() = default;

std::vector<at::Tensor> PlanBackend::run(const IR& ir, const StateDict& weights,
                                         const std::vector<at::Tensor>& inputs) {
  if (!compiled_ || !compiled_->is_of(ir, weights)) {
    compiled_.reset();
    compiled_ = std::make_unique<Compiled>(ir, weights, options_);
  }
  return compiled_->plan.run_checked(to_device(inputs, options_.device));
}

std::unique_ptr<NodeValues> PlanBackend::values(const IR& ir, const StateDict& weights,
                                                const std::vector<at::Tensor>& inputs) {
  return std::make_unique<PlanValues>(ir, weights, to_device(inputs, options_.device), options_);
}

}  // namespace torch_ir
