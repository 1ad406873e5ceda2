// PlanBackend: graphs run by the execution plans of this library.
#pragma once

#include <memory>
#include <vector>

#include "harness/backend/backend.h"

namespace torch_ir {

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
