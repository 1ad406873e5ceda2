#include "harness/backend/backend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "harness/backend/command_backend.h"
#include "harness/backend/open_backend.h"
#include "harness/backend/windowed_values.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/named_registry.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/operators/random_state.h"
#include "torch_ir/runtime/device.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/graph/graph_memory.h"
#include "torch_ir/runtime/graph/state.h"
#include "torch_ir/runtime/interpreter/node_run.h"
#include "torch_ir/verifier/compare_nodes.h"

namespace torch_ir {
namespace {

NamedRegistry<BackendFactory>& registry() {
  static NamedRegistry<BackendFactory> instance;
  return instance;
}

class NodeByNodeValues : public NodeValues {
 public:
  NodeByNodeValues(const Case& graph_case, std::optional<c10::Device> device)
      : run_(graph_case, {.device = device}) {}

  at::Tensor next(const std::string& name) override { return run_.value(name); }

 private:
  NodeRun run_;
};

}  // namespace

bool register_backend(const std::string& name, BackendFactory make) {
  if (name.empty()) throw Error("a backend needs a name");
  if (!registry().set(name, std::move(make), /*replaces=*/false)) {
    throw Error(fmt::format("duplicate backend '{}'", printable(name)));
  }
  return true;
}

std::vector<std::string> list_backends() { return registry().names(); }

std::string known_backends() {
  const std::vector<std::string> names = list_backends();
  if (names.empty()) return "no backend is linked into this program or loaded with --load-library";
  return fmt::format("backends: {}", fmt::join(names, ", "));
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
  const auto make = registry().find(settings.backend);
  if (make) return make(options);
  throw Error(
      fmt::format("unknown backend '{}'; {}", printable(settings.backend), known_backends()));
}

std::vector<at::Tensor> run_on(Backend& backend, const Case& graph_case) {
  const Program& program = *graph_case.program;
  std::vector<at::Tensor> outputs = backend.run(graph_case);
  const bool lacks_state = std::ssize(outputs) + num_state(program) == std::ssize(program.outputs);
  if (lacks_state) outputs.resize(program.outputs.size());
  return outputs;
}

std::vector<at::Tensor> run_grouped(Backend& backend, const Case& graph_case,
                                    std::vector<NodeGroup>& groups) {
  std::vector<at::Tensor> outputs;
  std::exception_ptr failure;
  try {
    outputs = run_on(backend, graph_case);
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  try {
    groups = backend.groups();
    if (!groups.empty()) group_nodes(*graph_case.program, memory_of(graph_case), groups);
  } catch (const Error& error) {
    groups.clear();
    // A command that fails may leave half of its file.
    if (!failure) throw LoadError(error.what());
  }
  if (failure) std::rethrow_exception(failure);
  return outputs;
}

// A plan, with its case, which keeps the program alive: another one then has another address.
struct PlanBackend::Compiled {
  bool is_of(const Case& other) const {
    return plan.changed_weight().empty() && has_same_tensors(graph_case.weights, other.weights) &&
           (graph_case.program == other.program ||
            to_ir(*graph_case.program) == to_ir(*other.program));
  }

  Case graph_case;
  ExecutionPlan plan;
};

std::vector<at::Tensor> PlanBackend::run(const Case& graph_case) {
  groups_.clear();
  if (!compiled_ || !compiled_->is_of(graph_case)) {
    compiled_.reset();
    compiled_.reset(new Compiled{graph_case, compile(graph_case, options_)});
  }
  return compiled_->plan.run_checked(to_device(graph_case.inputs, options_.device));
}

std::optional<ExecutorReport> PlanBackend::last_report() const {
  if (!compiled_) return std::nullopt;
  ExecutorReport report{.num_nodes = std::ssize(compiled_->graph_case.program->nodes)};
  for (const ExactRuns& node : compiled_->plan.exact_runs()) {
    report.nodes.emplace_back(node.name, ExecutorNode{.op_type = node.op_type,
                                                      .place = "started again as exact",
                                                      .metrics = {{"runs", node.num_runs}}});
  }
  if (report.nodes.empty()) return std::nullopt;
  return report;
}

std::unique_ptr<NodeValues> PlanBackend::values(const Case& graph_case) {
  groups_.clear();
  Case on_device = graph_case;
  on_device.inputs = to_device(graph_case.inputs, options_.device);
  try {
    if (!observed_ || !observed_->is_of(graph_case)) {
      ExecutionOptions options = options_;
      options.keeps_values = true;
      observed_.reset(new Compiled{graph_case, compile(graph_case, options)});
    }
    const RandomStateGuard random;
    std::set<std::string> inside;
    observed_->plan.observe(on_device.inputs,
                            [&](const std::string& name, const at::Tensor& value) {
                              if (value.defined()) {
                                inside.erase(name);
                              } else {
                                inside.insert(name);
                              }
                            });
    groups_ = groups_around(*graph_case.program, {inside.begin(), inside.end()});
  } catch (const std::exception&) {
    return std::make_unique<NodeByNodeValues>(on_device, options_.device);
  }
  constexpr int64_t kMostBytes = int64_t{64} << 20;
  const Program& program = *observed_->graph_case.program;
  // Each run draws the same numbers.
  const auto run = [compiled = observed_, inputs = on_device.inputs, &program,
                    random = RandomState()](std::span<const ValueId> values) {
    std::unordered_map<std::string_view, size_t> wanted;
    for (size_t i = 0; i < values.size(); ++i) wanted.emplace(program[values[i]].name, i);
    std::vector<at::Tensor> tensors(values.size());
    random.restore();
    compiled->plan.observe(inputs, [&](const std::string& name, const at::Tensor& value) {
      const auto found = wanted.find(name);
      if (found != wanted.end() && value.defined()) tensors[found->second] = value.clone();
    });
    return tensors;
  };
  return std::make_unique<WindowedValues>(program, compared_values(program), kMostBytes, run);
}

}  // namespace torch_ir
