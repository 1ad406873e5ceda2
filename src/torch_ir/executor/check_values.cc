#include "torch_ir/executor/check_values.h"

#include <utility>

#include "torch_ir/executor/graph/bind_weights.h"
#include "torch_ir/executor/graph/symbol_binder.h"
#include "torch_ir/executor/interpreter/run.h"
#include "torch_ir/ir/validate.h"

namespace torch_ir {

std::vector<std::string> weight_problems(const IR& ir, const StateDict& weights,
                                         const StateDict& constants) {
  validate_ir(ir);
  std::vector<std::string> problems;
  bind_weights(ir, weights, constants, /*device=*/std::nullopt, problems);
  return problems;
}

std::vector<std::string> input_problems(const IR& ir, const std::vector<at::Tensor>& inputs,
                                        c10::Device device) {
  if (std::string problem = input_count_problem(ir.graph_inputs.size(), inputs.size());
      !problem.empty()) {
    return {std::move(problem)};
  }
  std::vector<std::string> problems;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string problem = input_problem(ir.graph_inputs[i], device, inputs[i]);
    if (!problem.empty()) problems.push_back(std::move(problem));
  }
  // Sizes can be compared where all of them are there.
  return problems.empty() ? size_problems(ir, inputs) : problems;
}

}  // namespace torch_ir
