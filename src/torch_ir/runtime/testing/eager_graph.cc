#include "torch_ir/runtime/testing/eager_graph.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/randn.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <type_traits>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/ivalue.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/stack.h"
#include "torch_ir/operators/call_recording.h"

namespace torch_ir {
namespace {

TensorMeta meta_of(const std::string& name, const at::Tensor& tensor) {
  return {.name = name, .shape = tensor.sizes().vec(), .dtype = dtype_name(tensor.scalar_type())};
}

// Keeps strides and padding, which clone() does not promise.
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
  ir.weights.back().requires_grad = tensor.requires_grad();
  ir.weight_name_mapping.insert("p_" + name, name);
  weights.insert(name, tensor);
  define(meta_of("p_" + name, tensor), exact_clone(tensor));
  return {"p_" + name};
}

std::vector<V> EagerGraph::call(const std::string& op_type, std::vector<EagerArgument> arguments) {
  const auto op = find_operator(op_type);
  if (!op) throw std::invalid_argument("no operator " + op_type);
  arguments.resize(op->schema().arguments().size());
  std::vector<TensorMeta> used;
  const auto number_of = [&](const V& value) {
    used.push_back(metas_.at(value.name));
    return static_cast<ValueId>(used.size() - 1);
  };
  const auto record = [&](const auto& given) -> std::optional<ArgumentValue> {
    using Given = std::decay_t<decltype(given)>;
    if constexpr (std::is_same_v<Given, V>) {
      return number_of(given);
    } else if constexpr (std::is_same_v<Given, VList>) {
      ValueList list;
      for (const auto& item : given) {
        list.push_back(item ? std::optional(number_of(*item)) : std::nullopt);
      }
      return list;
    } else if constexpr (std::is_same_v<Given, Attribute>) {
      return given;
    } else {
      return std::nullopt;
    }
  };
  GivenArguments recorded;
  for (const EagerArgument& argument : arguments) recorded.push_back(std::visit(record, argument));
  OpNode node;
  node.name = "n" + std::to_string(ir.nodes.size());
  node.op_type = op_type;
  encode_arguments(op->schema(), recorded, [&](ValueId value) { return used[value]; }, node);
  const auto value_of = [&](const auto& it) -> c10::IValue {
    if constexpr (std::is_same_v<std::decay_t<decltype(it)>, ValueId>) {
      return values_.at(used[it].name);
    } else {
      return values_.at(it.name);
    }
  };
  torch::jit::Stack stack;
  for (size_t i = 0; i < recorded.size(); ++i) {
    const c10::Argument& argument = op->schema().arguments()[i];
    stack.push_back(recorded[i] ? make_argument(*recorded[i], argument, value_of)
                                : default_value(argument));
  }
  {
    const c10::InferenceMode inference_mode;
    op->callBoxed(stack);
  }
  const std::vector<at::Tensor> results = tensors_of(c10::ArrayRef<c10::IValue>(stack));
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
  TensorMeta meta = metas_.at(value.name);
  meta.producer_node.reset();
  meta.producer_output_idx = 0;
  ir.graph_outputs.push_back(std::move(meta));
}

std::shared_ptr<const Program> EagerGraph::program() const {
  return std::make_shared<const Program>(resolve(ir));
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

EagerGraph linear_graph() {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 4}));
  const V weight = graph.weight("linear.weight", at::randn({3, 4}));
  const V bias = graph.weight("linear.bias", at::randn({3}));
  graph.output(graph.call1("aten.linear.default", {x, weight, bias}));
  return graph;
}

std::string execution_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const ExecutionError& error) {
    return error.what();
  }
  return "no error";
}

std::string run_error(const ExecutionPlan& plan, const std::vector<at::Tensor>& inputs) {
  return execution_error([&] { (void)plan.run(inputs); });
}

std::string difference_from_eager(const EagerGraph& graph) {
  std::vector<at::Tensor> kept(graph.inputs);
  for (const auto& item : graph.weights) kept.push_back(item.value());
  std::vector<at::Tensor> before;
  for (const at::Tensor& tensor : kept) before.push_back(tensor.clone());
  const ExecutionPlan plan = graph.plan();
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

ExecutionPlan fast_plan(const EagerGraph& graph) {
  return graph.plan({.optimization = Optimization::kFast});
}

std::vector<std::string> calls_at_fast(const EagerGraph& graph) {
  std::vector<std::string> calls;
  for (const NodeProfile& node : fast_plan(graph).profile(graph.inputs, 1)) {
    std::ranges::copy_if(node.calls, std::back_inserter(calls),
                         [](const std::string& call) { return call != "onednn::reorder"; });
  }
  return calls;
}

std::string difference_at_fast(const EagerGraph& graph, const SecondJudge& judge) {
  const ExecutionPlan plan = fast_plan(graph);
  const std::vector<at::Tensor> expected = graph.expected();
  for (int round = 0; round < 3; ++round) {
    const std::vector<at::Tensor> outputs = plan.run(graph.inputs);
    for (size_t i = 0; i < expected.size(); ++i) {
      if (outputs[i].sizes() != expected[i].sizes()) return "another shape";
      if (outputs[i].strides() != expected[i].strides()) return "other strides";
      if (at::allclose(outputs[i], expected[i], 1e-4, 1e-4, /*equal_nan=*/true)) continue;
      const std::string problem = judge ? judge(outputs, i) : "which is too much";
      if (problem.empty()) continue;
      return fmt::format("output {} differs by {} in round {}, {}", i,
                         (outputs[i] - expected[i]).abs().max().item<double>(), round, problem);
    }
  }
  return "";
}

}  // namespace torch_ir
