// Backend: who runs a graph, for the harness to compare with the model.
//
// The execution plans of this library are one; an external command is another; a C++ program that
// links the harness registers its own:
//
//   static const bool registered = register_backend(
//       "my_chip", [](const BackendOptions& options) { return std::make_unique<MyChip>(options);
//       });
//
// and runs with `--backend my_chip`. A backend is made, and used, in the process of one model, so
// it may crash or hang.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/results/result.h"
#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/sym_expr.h"

namespace torch_ir {

// The values that the nodes of one run make.
class NodeValues {
 public:
  virtual ~NodeValues() = default;
  // The value called `name`; undefined where the backend does not have it by itself (it was fused
  // away, or is not a tensor). Names are asked for in the order of the graph, each once, so that a
  // backend may compute as it is asked and let go of what was asked for before.
  virtual at::Tensor next(const std::string& name) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  // One tensor for each of IR::graph_outputs, undefined for those that are None. Weights are found
  // by state dict name. Throws Error when the graph can not be run.
  virtual std::vector<at::Tensor> run(const IR& ir, const StateDict& weights,
                                      const std::vector<at::Tensor>& inputs) = 0;

  // The values of the nodes in another run; null for a backend that can not tell them. Whatever is
  // given has to live as long as the result.
  virtual std::unique_ptr<NodeValues> values(const IR& ir, const StateDict& weights,
                                             const std::vector<at::Tensor>& inputs);
};

// Which backend, and how it runs.
struct BackendOptions {
  // Of the execution plan; others take from it what they can.
  ExecutionOptions execution = {};
  // As registered; empty for the execution plan, or where there is a command.
  std::string name = {};
  // The command line of an external program, see command_backend.h; empty for none.
  std::string command = {};
  // Whether the command writes the values of the nodes too.
  bool command_has_intermediates = false;
  // A directory for the files of this process.
  std::string directory = {};
};

using BackendFactory = std::function<std::unique_ptr<Backend>(const BackendOptions&)>;

// Adds a backend, and gives true. Throws Error when the name is taken or empty.
bool register_backend(const std::string& name, BackendFactory make);

// Sorted by name.
std::vector<std::string> list_backends();

// Throws Error, naming those that there are, for a name that nobody registered.
void check_backend(const std::string& name);

// Throws as check_backend.
std::unique_ptr<Backend> make_backend(const BackendOptions& options);

// The backend of `settings`, with its files below `directory`, which is made where it needs one.
// Throws as make_backend, and OutputError.
std::unique_ptr<Backend> open_backend(const RunSettings& settings, const std::string& directory);

// Graphs run by the execution plans of this library.
class PlanBackend : public Backend {
 public:
  explicit PlanBackend(const ExecutionOptions& options);
  ~PlanBackend() override;

  // Compiles once for runs of the same graph with the same weights, one after the other.
  std::vector<at::Tensor> run(const IR& ir, const StateDict& weights,
                              const std::vector<at::Tensor>& inputs) override;
  // Of a run that calls each operator through the dispatcher, as it is asked.
  std::unique_ptr<NodeValues> values(const IR& ir, const StateDict& weights,
                                     const std::vector<at::Tensor>& inputs) override;

 private:
  struct Compiled;

  ExecutionOptions options_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace torch_ir
