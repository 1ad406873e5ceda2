#include "torch_ir/weights/tensor_files.h"

#include <ATen/ops/eq.h>
#include <ATen/ops/item.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

std::string missing_problem(const StateDict& file, const char* what, const std::string& name) {
  return fmt::format("missing {} '{}'; the file has {}", what, printable(name),
                     few_names(file.keys()));
}

std::string unknown_problem(const char* what, const std::string& name,
                            const std::vector<std::string>& known) {
  return fmt::format("unexpected {} '{}'; the graph's {}s are {}", what, printable(name), what,
                     few_names(known));
}

void throw_problems(const std::string& path, const std::vector<std::string>& problems) {
  if (!problems.empty()) throw Error(path + ": " + problem_list(problems, "its tensors"));
}

// An input fixed during tracing must have its traced value; empty if it has.
std::string constant_problem(const std::string& name, const at::Tensor& tensor,
                             const Attribute& value) {
  std::optional<c10::Scalar> number;
  if (const auto* boolean = value.get_if<bool>()) number = *boolean;
  if (const auto* integer = value.get_if<int64_t>()) number = *integer;
  if (const auto* floating = value.get_if<double>()) number = *floating;
  const bool is_same = number && tensor.dim() == 0 && tensor.eq(*number).item<bool>();
  if (is_same) return {};
  return "input '" + printable(name) + "' is fixed to " + printable(attribute_text(value)) +
         " in the graph; export the model again for another value";
}

// Its own name first, then the placeholder's, if the output is state, then that of the state dict.
std::vector<std::string> names_in_file(const Program& program, size_t output) {
  const ValueId value = program.outputs[output];
  std::vector<std::string> names = {program[value].name};
  const auto add = [&](const std::string& name) {
    const bool is_output = std::ranges::any_of(
        program.outputs, [&](ValueId other) { return program[other].name == name; });
    if (!name.empty() && !is_output) names.push_back(name);
  };
  for (const Mutation& mutation : program.mutations) {
    if (program.outputs[mutation.output] != value) continue;
    add(program[mutation.placeholder].name);
    const auto input = std::ranges::find(program.inputs, mutation.placeholder, &GraphInput::value);
    if (input != program.inputs.end()) add(input->target);
  }
  return names;
}

}  // namespace

std::vector<at::Tensor> inputs_in(const StateDict& file, const IR& ir,
                                  std::vector<std::string>& problems) {
  std::vector<at::Tensor> tensors;
  std::vector<std::string> known;
  for (const TensorMeta& input : ir.graph_inputs) {
    known.push_back(input.name);
    const at::Tensor* tensor = file.find(input.name);
    tensors.push_back(tensor == nullptr ? at::Tensor() : *tensor);
  }
  for (const auto& item : file) {
    if (std::ranges::find(known, item.key()) != known.end()) continue;
    const Attribute* constant = ir.constant_inputs.find(item.key());
    std::string problem = constant == nullptr
                              ? unknown_problem("input", item.key(), known)
                              : constant_problem(item.key(), item.value(), *constant);
    if (!problem.empty()) problems.push_back(std::move(problem));
  }
  return tensors;
}

std::vector<at::Tensor> read_inputs(const std::string& path, const IR& ir) {
  const StateDict file = load_weights(path);
  std::vector<std::string> problems;
  std::vector<at::Tensor> tensors = inputs_in(file, ir, problems);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].defined()) continue;
    problems.push_back(missing_problem(file, "input", ir.graph_inputs[i].name));
  }
  throw_problems(path, problems);
  return tensors;
}

const at::Tensor* find_output(const StateDict& file, const Program& program, size_t output) {
  for (const std::string& name : names_in_file(program, output)) {
    if (const at::Tensor* tensor = file.find(name)) return tensor;
  }
  return nullptr;
}

std::vector<std::string> unknown_outputs(const StateDict& file, const Program& program) {
  std::vector<std::string> unknown = file.keys();
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    for (const std::string& name : names_in_file(program, i)) std::erase(unknown, name);
  }
  return unknown;
}

std::vector<at::Tensor> read_expected(const std::string& path, const Program& program) {
  const StateDict file = load_weights(path);
  std::vector<std::string> problems;
  std::vector<std::string> known;
  for (const ValueId output : program.outputs) known.push_back(program[output].name);
  for (const std::string& name : unknown_outputs(file, program)) {
    problems.push_back(unknown_problem("output", name, known));
  }
  std::vector<at::Tensor> tensors;
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const at::Tensor* tensor = find_output(file, program, i);
    tensors.push_back(tensor == nullptr ? at::Tensor() : *tensor);
    if (tensor == nullptr && program.find_mutation(i) == nullptr) {
      problems.push_back(missing_problem(file, "output", known[i]));
    }
  }
  throw_problems(path, problems);
  return tensors;
}

StateDict outputs_by_name(const Program& program, const std::vector<at::Tensor>& outputs) {
  StateDict file;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<std::string> names = names_in_file(program, i);
    names.resize(std::min<size_t>(names.size(), 2));
    for (const std::string& name : names) {
      if (outputs[i].defined() && !file.contains(name)) file.insert(name, outputs[i]);
    }
  }
  return file;
}

}  // namespace torch_ir
