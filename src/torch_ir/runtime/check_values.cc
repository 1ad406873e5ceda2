#include "torch_ir/runtime/check_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "torch_ir/base/printable.h"
#include "torch_ir/runtime/graph/bind_weights.h"
#include "torch_ir/runtime/graph/symbol_binder.h"
#include "torch_ir/runtime/interpreter/run.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {

std::vector<std::string> weight_problems(const Case& graph_case) {
  const Program& program = *graph_case.program;
  std::vector<std::string> problems;
  const BoundWeights bound = bind_weights(graph_case, /*device=*/std::nullopt, problems);
  if (!bound.only_missing.empty()) {
    std::string& problem = problems.front();
    problem += fmt::format("{} It is '{}' in the state dict.", problem.ends_with('.') ? "" : ".",
                           printable(bound.only_missing));
  }
  std::unordered_set<std::string_view> used;
  for (const GraphInput& input : program.inputs) {
    used.insert({input.target, program[input.value].name});
  }
  if (problems.empty()) warn_about_surplus_weights(graph_case.weights, used);
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

}  // namespace torch_ir
