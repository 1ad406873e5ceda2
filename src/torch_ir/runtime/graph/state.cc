#include "torch_ir/runtime/graph/state.h"

#include <ATen/core/enum_tag.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/runtime/graph/lowered_graph.h"

namespace torch_ir {
namespace {

// The memory that nodes write to. `unsqueeze_` and the like change how a tensor lies in its memory,
// but not the memory.
std::set<size_t> written_memory(const LoweredGraph& graph) {
  std::set<size_t> written;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto* op = std::get_if<c10::OperatorHandle>(&graph.nodes[i].callee);
    if (op == nullptr || op->hasTag(at::Tag::inplace_view)) continue;
    written.insert(graph.memory.written_by(i).begin(), graph.memory.written_by(i).end());
  }
  return written;
}

}  // namespace

int64_t num_state(const Program& program) {
  return std::ranges::count_if(program.mutations, &Mutation::in_place);
}

void add_state(Program& program, const std::vector<std::string>& made) {
  if (num_state(program) > 0) return;
  LoweredGraph graph;
  try {
    graph = lower_without_weights(program);
  } catch (const Error&) {
    // It cannot run either, and who runs it learns why.
    return;
  }
  const std::set<size_t> written = written_memory(graph);
  for (const GraphInput& input : program.inputs) {
    const bool is_made = std::ranges::find(made, input.target) != made.end();
    if (is_made || !written.contains(graph.memory.of(input.value))) continue;
    program.mutations.push_back({program.outputs.size(), input.value, /*in_place=*/true});
    program.outputs.push_back(input.value);
  }
}

at::Tensor& tensor_of(Case& graph_case, ValueId input) {
  const std::vector<ValueId> inputs = graph_case.program->user_inputs();
  const auto user_input = std::ranges::find(inputs, input);
  if (user_input != inputs.end()) {
    return graph_case.inputs.at(static_cast<size_t>(user_input - inputs.begin()));
  }
  const GraphInput& weight =
      *std::ranges::find(graph_case.program->inputs, input, &GraphInput::value);
  const at::Tensor* known = find_weight(graph_case, weight);
  if (!graph_case.weights.contains(weight.target)) {
    graph_case.weights.insert(weight.target, known == nullptr ? at::Tensor() : *known);
  }
  return graph_case.weights[weight.target];
}

std::vector<Mutation> carried_values(const Program& program,
                                     const std::vector<std::string>& carries) {
  std::vector<Mutation> carried = program.mutations;
  const auto name = [&](ValueId value) { return program[value].name; };
  const auto names = [&](const std::vector<ValueId>& values) {
    std::vector<std::string> all(values.size());
    std::ranges::transform(values, all.begin(), name);
    return quoted_list(all, 8);
  };
  const std::vector<ValueId> inputs = program.user_inputs();
  for (const std::string& text : carries) {
    const size_t equals = std::min(text.find('='), text.size() - 1);
    const auto output = std::ranges::find(program.outputs, text.substr(0, equals), name);
    const auto input = std::ranges::find(inputs, text.substr(equals + 1), name);
    const auto fail = [&](const std::string& problem) {
      throw Error(fmt::format("--carry {}: {}", printable(text), problem));
    };
    if (output == program.outputs.end() || input == inputs.end()) {
      fail(fmt::format("expected OUT=IN, with one of the outputs {} and of the inputs {}",
                       names(program.outputs), names(inputs)));
    }
    const Value& from = program[*output];
    const Value& to = program[*input];
    const bool has_other_shape = !is_dynamic(from) && !is_dynamic(to) && from.shape != to.shape;
    if (has_other_shape || from.dtype != to.dtype) {
      fail(fmt::format("the output is {}, the input {}", dtype_and_shape(from),
                       dtype_and_shape(to)));
    }
    carried.push_back({static_cast<size_t>(output - program.outputs.begin()), *input});
  }
  return carried;
}

void carry(const std::vector<Mutation>& carried, const std::vector<at::Tensor>& outputs,
           Case& next) {
  for (const Mutation& value : carried) {
    const at::Tensor& tensor = outputs.at(value.output);
    if (tensor.defined()) tensor_of(next, value.placeholder) = tensor;
  }
}

Case with_carried_inputs(const std::vector<Mutation>& carried, Case graph_case) {
  Program program = *graph_case.program;
  for (const Mutation& value : carried) {
    const auto input = std::ranges::find(program.inputs, value.placeholder, &GraphInput::value);
    if (input->kind == InputKind::kUserInput) continue;
    graph_case.inputs.push_back(tensor_of(graph_case, value.placeholder));
    program.inputs.erase(input);
    program.inputs.push_back({InputKind::kUserInput, value.placeholder});
  }
  return graph_case.with(std::move(program));
}

std::vector<at::Tensor> state_after(Case& graph_case, KeptWrites& kept) {
  std::vector<at::Tensor> state;
  for (const Mutation& mutation : graph_case.program->mutations) {
    if (!mutation.in_place) continue;
    const at::Tensor& value = tensor_of(graph_case, mutation.placeholder);
    const bool is_input = std::ranges::any_of(
        graph_case.inputs, [&](const at::Tensor& input) { return input.is_same(value); });
    state.push_back(is_input || (value.defined() && kept.has_written(value)) ? value
                                                                             : at::Tensor());
  }
  return state;
}

void add_state(IR& ir) {
  Program program = try_resolve(ir, GraphChecks::kStructure).program;
  if (!ir.state.empty() || program.nodes.empty()) return;
  add_state(program);
  for (const Mutation& mutation : program.mutations) {
    if (mutation.in_place) ir.state.push_back(program[mutation.placeholder].name);
  }
}

}  // namespace torch_ir
