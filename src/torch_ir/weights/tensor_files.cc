#include "torch_ir/weights/tensor_files.h"

#include <ATen/ops/eq.h>
#include <ATen/ops/item.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/problem_list.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

// "'a', 'b', 'c' and 7 more"; "nothing" for none.
std::string list_names(const std::vector<std::string>& names) {
  constexpr size_t kMaxNames = 8;
  return names.empty() ? "nothing" : quoted_list(names, kMaxNames);
}

std::string missing_problem(const StateDict& file, const char* what, const std::string& name) {
  return fmt::format("missing {} '{}'; the file has {}", what, printable(name),
                     list_names(file.keys()));
}

std::string unknown_problem(const char* what, const std::string& name,
                            const std::vector<TensorMeta>& values) {
  std::vector<std::string> names;
  for (const TensorMeta& value : values) names.push_back(value.name);
  return fmt::format("unexpected {} '{}'; the graph's {}s are {}", what, printable(name), what,
                     list_names(names));
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

// The names of a graph output in a file: its own and, for the new value of a buffer or an input,
// the names of that buffer or input.
std::vector<std::string> names_in_file(const TensorMeta& output, const IR& ir) {
  std::vector<std::string> names = {output.name};
  if (output.mutates.empty()) return names;
  const auto is_output = [&](const std::string& name) {
    return std::ranges::find(ir.graph_outputs, name, &TensorMeta::name) != ir.graph_outputs.end();
  };
  const std::string* target = ir.weight_name_mapping.find(output.mutates);
  if (target != nullptr && !is_output(*target)) names.push_back(*target);
  if (!is_output(output.mutates)) names.push_back(output.mutates);
  return names;
}

std::vector<at::Tensor> inputs_in(const StateDict& file, const IR& ir,
                                  std::vector<std::string>& problems) {
  std::vector<at::Tensor> tensors;
  for (const TensorMeta& input : ir.graph_inputs) {
    const at::Tensor* tensor = file.find(input.name);
    tensors.push_back(tensor == nullptr ? at::Tensor() : *tensor);
  }
  for (const auto& item : file) {
    if (std::ranges::find(ir.graph_inputs, item.key(), &TensorMeta::name) !=
        ir.graph_inputs.end()) {
      continue;
    }
    const Attribute* constant = ir.constant_inputs.find(item.key());
    std::string problem = constant == nullptr
                              ? unknown_problem("input", item.key(), ir.graph_inputs)
                              : constant_problem(item.key(), item.value(), *constant);
    if (!problem.empty()) problems.push_back(std::move(problem));
  }
  return tensors;
}

}  // namespace

std::vector<at::Tensor> read_inputs(const std::string& path, const IR& ir,
                                    std::vector<std::string>& problems) {
  return inputs_in(load_weights(path), ir, problems);
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

std::vector<at::Tensor> read_expected(const std::string& path, const IR& ir) {
  const StateDict file = load_weights(path);
  std::vector<std::string> problems;
  std::vector<std::string> known;
  for (const TensorMeta& output : ir.graph_outputs) {
    std::ranges::copy(names_in_file(output, ir), std::back_inserter(known));
  }
  for (const std::string& name : file.keys()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    problems.push_back(unknown_problem("output", name, ir.graph_outputs));
  }
  std::vector<at::Tensor> tensors;
  for (const TensorMeta& output : ir.graph_outputs) {
    const std::vector<std::string> names = names_in_file(output, ir);
    const auto found =
        std::ranges::find_if(names, [&](const auto& name) { return file.contains(name); });
    tensors.push_back(found == names.end() ? at::Tensor() : file[*found]);
    // The new value of a buffer or an input may be absent.
    if (found == names.end() && output.mutates.empty()) {
      problems.push_back(missing_problem(file, "output", output.name));
    }
  }
  throw_problems(path, problems);
  return tensors;
}

void write_outputs(const std::string& path, const IR& ir, const std::vector<at::Tensor>& outputs) {
  StateDict file;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<std::string> names = names_in_file(ir.graph_outputs[i], ir);
    names.resize(std::min<size_t>(names.size(), 2));
    for (const std::string& name : names) {
      if (!file.contains(name)) file.insert(name, outputs[i]);
    }
  }
  save_weights_safetensors(file, path);
}

}  // namespace torch_ir
