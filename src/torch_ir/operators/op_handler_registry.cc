#include "torch_ir/operators/op_handler_registry.h"

#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <iostream>
#include <map>
#include <string_view>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/named_registry.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// The Python package torch_ir records `outputs[i]` as a node: its inputs are all outputs of the
// producer, and the attribute "index" selects one.
std::vector<at::Tensor> getitem(const OpNode& node, const std::vector<at::Tensor>& inputs) {
  const Attribute* attribute = node.attrs.find("index");
  const auto* index = attribute == nullptr ? nullptr : attribute->get_if<int64_t>();
  if (index == nullptr) throw ExecutionError("attribute 'index' must be an integer");
  if (*index < 0 || static_cast<size_t>(*index) >= inputs.size()) {
    throw ExecutionError(
        fmt::format("index {} is out of range: the number of inputs is {}", *index, inputs.size()));
  }
  return {inputs[static_cast<size_t>(*index)]};
}

// LibTorch's version writes text from the file to stdout unchanged, but stdout is for results, and
// a file must not control the terminal.
std::vector<at::Tensor> print(const OpNode& node, const std::vector<at::Tensor>&) {
  const Attribute* attribute = node.attrs.find("s");
  const auto* text = attribute == nullptr ? nullptr : attribute->get_if<std::string>();
  if (text == nullptr) throw ExecutionError("attribute 's' must be a string");
  std::cerr << printable(*text) << std::endl;
  return {};
}

const at::Tensor& argument(const OpNode& node, const std::vector<at::Tensor>& inputs,
                           std::string_view name) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (node.inputs[i].arg == name) return inputs[i];
  }
  throw ExecutionError(fmt::format("missing argument '{}'", name));
}

// From Hugging Face transformers (Mixtral and other mixtures of experts): rows [offs[i-1], offs[i])
// of `input` [rows, in] times matrix i of `weight` [groups, in, out]; zeros after the last group.
std::vector<at::Tensor> grouped_mm(const OpNode& node, const std::vector<at::Tensor>& inputs) {
  const at::Tensor& input = argument(node, inputs, "input");
  const at::Tensor& weight = argument(node, inputs, "weight");
  const at::Tensor ends = argument(node, inputs, "offs").to(at::kLong);
  at::Tensor output = at::zeros({input.size(0), weight.size(2)}, input.options());
  int64_t begin = 0;
  for (int64_t group = 0; group < ends.size(0); ++group) {
    const int64_t end = ends[group].item<int64_t>();
    if (end < begin || end > input.size(0)) {
      throw ExecutionError(fmt::format(
          "invalid end of group {}: it ends at row {}, but begins at {}, and there are {} rows",
          group, end, begin, input.size(0)));
    }
    at::Tensor rows = output.slice(0, begin, end);
    if (end > begin) at::mm_out(rows, input.slice(0, begin, end), weight[group]);
    begin = end;
  }
  return {output};
}

// Operators that only Python packages define, but everyday models export: torch.export records a
// custom operator by its name.
std::map<std::string, OpHandler> python_operators() {
  return {
      {"<built-in function getitem>", getitem},
      {"aten._print.default", print},
      {"transformers.grouped_mm_fallback.default", grouped_mm},
  };
}

NamedRegistry<OpHandler>& registry() {
  static NamedRegistry<OpHandler> instance(python_operators());
  return instance;
}

}  // namespace

void register_executor(const std::string& op_type, OpHandler handler) {
  registry().set(op_type, std::move(handler));
}

OpHandler find_op_handler(const std::string& op_type) { return registry().find(op_type); }

bool returns_input(const OpHandler& handler) {
  const auto* const function = handler.target<decltype(&getitem)>();
  return function != nullptr && *function == getitem;
}

std::vector<std::string> list_registered_op_handlers() { return registry().names(); }

}  // namespace torch_ir
