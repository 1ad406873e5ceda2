// Backend: the interface to anything that runs a graph and is compared with the model.
//
// Our runtime (ExecutionPlan) and external commands are backends. A C++ program that links the
// harness, or a library that it loads, registers its own, which `--executor my_chip` selects:
//
//   static const bool registered = register_backend(
//       "my_chip", [](const BackendOptions& options) { return std::make_unique<MyChip>(options);
//       });
//
// Each model has a backend of its own in a process of its own, so a backend may crash or hang. It
// is called by one thread at a time, for any number of graphs, in any order.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/results/executor_report.h"
#include "torch_ir/cases/node_groups.h"
#include "torch_ir/runtime/graph/case.h"
#include "torch_ir/runtime/graph/execution_options.h"

namespace torch_ir {

class NodeValues {
 public:
  virtual ~NodeValues() = default;
  // Returns the value called `name`, or an undefined tensor if the backend does not have it, e.g.
  // after fusion. Called once for each name, in graph order, so a backend may compute values lazily
  // and drop old ones.
  virtual at::Tensor next(const std::string& name) = 0;

  // The names of further values, which the graph does not have, sorted.
  virtual std::vector<std::string> unknown() const { return {}; }
};

class Backend {
 public:
  virtual ~Backend() = default;

  // Runs the graph on the weights and inputs of the case; to_ir (document.h) writes it as an IR.
  // Returns one tensor for each output of the program, undefined for None: for IR::graph_outputs,
  // then for IR::state, the values at the end of the run of what nodes write to. Without those the
  // state is not compared. Throws Error when the graph cannot be run.
  virtual std::vector<at::Tensor> run(const Case& graph_case) = 0;

  // Runs the graph again and returns the values of its nodes, or null if the backend cannot provide
  // them. The case and the backend outlive the result.
  virtual std::unique_ptr<NodeValues> values(const Case& /*graph_case*/) { return nullptr; }

  // The backend's report of its last run, if it has one.
  virtual std::optional<ExecutorReport> last_report() const { return std::nullopt; }

  // The groups of nodes that the last call of `run` or `values` fused, with the forms of their
  // values in NodeValues. Throws Error if they cannot be read.
  virtual std::vector<NodeGroup> groups() const { return {}; }
};

struct BackendOptions {
  // For execution plans; other backends use the options that apply to them.
  ExecutionOptions execution = {};
  // A folder for the files of this process.
  std::string directory = {};
};

using BackendFactory = std::function<std::unique_ptr<Backend>(const BackendOptions&)>;

// Always returns true. Throws Error when the name is taken or empty. Thread-safe.
bool register_backend(const std::string& name, BackendFactory make);

// Sorted by name.
std::vector<std::string> list_backends();

// Runs graphs on our runtime, ExecutionPlan.
class PlanBackend : public Backend {
 public:
  explicit PlanBackend(const ExecutionOptions& options) : options_(options) {}

  // Reuses the compiled plan while the graph and the weights stay the same.
  std::vector<at::Tensor> run(const Case& graph_case) override;
  // The values that the plan computes. If it fails, the operators run one by one, to show where.
  std::unique_ptr<NodeValues> values(const Case& graph_case) override;
  // Where runs of level `fast` started again as `exact`; nothing if none did.
  std::optional<ExecutorReport> last_report() const override;
  // Those that the last call of `values` fused. A run without values does not look for them.
  std::vector<NodeGroup> groups() const override { return groups_; }

 private:
  struct Compiled;

  ExecutionOptions options_;
  std::shared_ptr<const Compiled> compiled_;
  // Keeps values.
  std::shared_ptr<const Compiled> observed_;
  std::vector<NodeGroup> groups_;
};

}  // namespace torch_ir
