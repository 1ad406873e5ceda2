#include "torch_ir/runtime/check_values.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "torch_ir/ir/resolve.h"
#include "torch_ir/runtime/graph/bind_weights.h"
#include "torch_ir/runtime/graph/symbol_binder.h"
#include "torch_ir/runtime/interpreter/run.h"
#include "torch_ir/weights/graph_names.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {

std::vector<std::string> weight_problems(const Case& graph_case) {
  const Program& program = *graph_case.program;
  Case renamed = graph_case;
  renamed.weights = with_graph_names(graph_case.weights, program);
  std::vector<std::string> problems;
  bind_weights(renamed, /*device=*/std::nullopt, problems);
  std::unordered_set<std::string_view> used;
  for (const GraphInput& input : program.inputs) {
    used.insert({input.target, program[input.value].name});
  }
  for (const auto& names : program.tied_weights) used.insert(names.begin(), names.end());
  if (problems.empty()) warn_about_surplus_weights(renamed.weights, used);
  return problems;
}

std::vector<std::string> input_problems(const Program& program,
                                        const std::vector<at::Tensor>& inputs, c10::Device device) {
  const std::vector<ValueId> ids = program.user_inputs();
  if (std::string problem = input_count_problem(ids.size(), inputs.size()); !problem.empty()) {
    return {std::move(problem)};
  }
  std::vector<std::string> problems;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string problem = input_problem(program[ids[i]], device, inputs[i]);
    if (!problem.empty()) problems.push_back(std::move(problem));
  }
  return problems.empty() ? size_problems(program, inputs) : problems;
}

std::vector<std::string> value_problems(const Case& graph_case) {
  std::vector<std::string> problems = weight_problems(graph_case);
  std::ranges::move(input_problems(*graph_case.program, graph_case.inputs),
                    std::back_inserter(problems));
  return problems;
}

std::vector<std::string> weight_problems(const IR& ir, const StateDict& weights,
                                         const StateDict& constants) {
  return weight_problems(Case{.weights = weights, .constants = constants}.with(resolve(ir)));
}

std::vector<std::string> input_problems(const IR& ir, const std::vector<at::Tensor>& inputs,
                                        c10::Device device) {
  return input_problems(resolve(ir), inputs, device);
}

}  // namespace torch_ir
