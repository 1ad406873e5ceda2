#include "torch_ir/executor/testing/eager_graph.h"

#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/jit_type.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

#include "torch_ir/executor/execution_plan.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/ivalue.h"

namespace torch_ir {
namespace {

TensorMeta meta_of(const std::string& name, const at::Tensor& tensor) {
  TensorMeta meta;
  meta.name = name;
  meta.shape = tensor.sizes().vec();
  meta.dtype = dtype_name(tensor.scalar_type());
  return meta;
}

bool is_list_with_none(const c10::Argument& argument) {
  const auto* list = argument.type()->castRaw<c10::ListType>();
  return list != nullptr && list->getElementType()->kind() == c10::TypeKind::OptionalType;
}

// All defined tensors: what a node has as outputs.
std::vector<at::Tensor> flatten(const std::vector<c10::IValue>& stack) {
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& value : stack) {
    if (value.isTensor() && value.toTensor().defined()) tensors.push_back(value.toTensor());
    if (!value.isTensorList()) continue;
    for (const at::Tensor& tensor : value.toTensorVector()) tensors.push_back(tensor);
  }
  return tensors;
}

// A copy with the same strides and padding, which clone() does not promise.
at::Tensor exact_clone(const at::Tensor& tensor) {
  return tensor.is_non_overlapping_and_dense() ? tensor.clone() : tensor;
}

}  // namespace

V EagerGraph::input(const std::string& name, const at::Tensor& tensor) {
  TensorMeta meta = meta_of(name, tensor);
  ir.graph_inputs.push_back(meta);
  inputs.push_back(tensor);
  meta.producer_node = name;
  define(meta, exact_clone(tensor));
  return {name};
}

V EagerGraph::weight(const std::string& name, const at::Tensor& tensor) {
  ir.weights.push_back(meta_of(name, tensor));
  ir.weight_name_mapping.insert("p_" + name, name);
  weights.insert(name, tensor);
  define(meta_of("p_" + name, tensor), exact_clone(tensor));
  return {"p_" + name};
}

std::vector<V> EagerGraph::call(const std::string& op_type, std::vector<EagerArgument> arguments) {
  const auto op = find_operator(op_type);
  if (!op) throw std::invalid_argument("no operator " + op_type);
  const std::vector<c10::Argument>& schema = op->schema().arguments();
  arguments.resize(schema.size());
  std::vector<c10::IValue> stack;
  std::vector<CallArgument> recorded;
  for (size_t i = 0; i < schema.size(); ++i) {
    if (const auto* one = std::get_if<V>(&arguments[i])) {
      stack.emplace_back(value(*one));
      recorded.emplace_back(use(*one));
    } else if (const auto* list = std::get_if<VList>(&arguments[i])) {
      c10::List<std::optional<at::Tensor>> optionals;
      c10::List<at::Tensor> tensors;
      std::vector<std::optional<TensorMeta>> metas;
      for (const auto& item : *list) {
        optionals.push_back(item ? std::optional(value(*item)) : std::nullopt);
        if (item) tensors.push_back(value(*item));
        metas.push_back(item ? std::optional(use(*item)) : std::nullopt);
      }
      stack.push_back(is_list_with_none(schema[i]) ? c10::IValue(optionals) : c10::IValue(tensors));
      recorded.emplace_back(std::move(metas));
    } else if (const auto* attribute = std::get_if<Attribute>(&arguments[i])) {
      stack.push_back(to_ivalue(*attribute, schema[i]));
      recorded.emplace_back(*attribute);
    } else {
      stack.push_back(schema[i].default_value().value_or(c10::IValue()));
      recorded.emplace_back();
    }
  }
  OpNode node;
  node.name = "n" + std::to_string(ir.nodes.size());
  node.op_type = op_type;
  encode_arguments(op->schema(), std::move(recorded), node);
  {
    const c10::InferenceMode inference_mode;
    op->callBoxed(stack);
  }
  const std::vector<at::Tensor> results = flatten(stack);
  const bool is_single =
      op->schema().returns().size() == 1 && !stack.empty() && stack.front().isTensor();
  std::vector<V> outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    TensorMeta meta =
        meta_of(is_single ? node.name : node.name + "_" + std::to_string(i), results[i]);
    node.outputs.push_back(meta);
    meta.producer_node = node.name;
    meta.producer_output_idx = static_cast<int64_t>(i);
    define(meta, results[i]);
    outputs.push_back({meta.name});
  }
  ir.nodes.push_back(std::move(node));
  return outputs;
}

V EagerGraph::call1(const std::string& op_type, std::vector<EagerArgument> arguments) {
  return call(op_type, std::move(arguments)).at(0);
}

void EagerGraph::output(const V& value) {
  TensorMeta meta = use(value);
  meta.producer_node.reset();
  meta.producer_output_idx = 0;
  ir.graph_outputs.push_back(std::move(meta));
}

std::vector<at::Tensor> EagerGraph::expected() const {
  std::vector<at::Tensor> outputs;
  for (const TensorMeta& meta : ir.graph_outputs) outputs.push_back(values_.at(meta.name));
  return outputs;
}

void EagerGraph::define(const TensorMeta& meta, const at::Tensor& tensor) {
  metas_.insert_or_assign(meta.name, meta);
  values_.insert_or_assign(meta.name, tensor);
}

TensorMeta EagerGraph::use(const V& value) const { return metas_.at(value.name); }

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return false;
  const at::Tensor x = a.resolve_conj().resolve_neg().contiguous();
  const at::Tensor y = b.resolve_conj().resolve_neg().contiguous();
  return x.numel() == 0 || std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

std::string difference_from_eager(const EagerGraph& graph) {
  std::vector<at::Tensor> kept(graph.inputs);
  for (const auto& item : graph.weights) kept.push_back(item.value());
  std::vector<at::Tensor> before;
  for (const at::Tensor& tensor : kept) before.push_back(tensor.clone());
  const ExecutionPlan plan = compile(graph.ir, graph.weights);
  const std::vector<at::Tensor> expected = graph.expected();
  std::string difference;
  for (int run = 0; run < 2; ++run) {
    const std::vector<at::Tensor> outputs = plan.run(graph.inputs);
    for (size_t i = 0; i < expected.size(); ++i) {
      if (i < outputs.size() && same_bits(outputs[i], expected[i])) continue;
      difference +=
          fmt::format("run {}: output '{}' differs\n", run, graph.ir.graph_outputs[i].name);
    }
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!same_bits(kept[i], before[i])) {
      difference += fmt::format("input or weight {} changed\n", i);
    }
  }
  return difference;
}

}  // namespace torch_ir
