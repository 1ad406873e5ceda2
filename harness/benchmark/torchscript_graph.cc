#include "harness/benchmark/torchscript_graph.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/ivalue.h"

namespace torch_ir {
namespace {

using torch::jit::Graph;
using torch::jit::Module;
using torch::jit::Node;
using torch::jit::Value;

[[noreturn]] void refuse(const OpNode& node, const std::string& reason) {
  throw Error("node '" + node.name + "' (" + node.op_type + ") has no TorchScript form: " + reason);
}

at::Tensor value_of(const std::string& weight, const StateDict& weights,
                    const StateDict& constants) {
  if (const at::Tensor* value = weights.find(weight)) return value->detach();
  if (const at::Tensor* value = constants.find(weight)) return value->detach();
  throw Error("weight '" + weight + "' has no value for a TorchScript module");
}

class GraphBuilder {
 public:
  GraphBuilder(const IR& ir, const StateDict& weights)
      : ir_(ir),
        module_("__torch__.torch_ir." + ir.model_name,
                std::make_shared<torch::jit::CompilationUnit>()),
        graph_(std::make_shared<Graph>()) {
    module_.register_attribute("training", c10::BoolType::get(), false);
    Value* self = graph_->addInput("self")->setType(module_.type());
    for (const auto& weight : ir.weight_name_mapping) {
      const std::string& placeholder = weight.key();
      module_.register_buffer(placeholder, value_of(weight.value(), weights, ir.constants));
      values_[placeholder] = graph_->insertGetAttr(self, placeholder);
    }
    for (const TensorMeta& input : ir.graph_inputs) values_[input.name] = add_input(input);
  }

  Module build() {
    for (const OpNode& node : ir_.nodes) add_node(node);
    std::vector<Value*> outputs;
    for (const TensorMeta& output : ir_.graph_outputs) outputs.push_back(values_.at(output.name));
    graph_->registerOutput(outputs.size() == 1
                               ? outputs[0]
                               : graph_->insertNode(graph_->createTuple(outputs))->output());
    graph_->lint();
    torch::jit::Function* forward = module_._ivalue()->compilation_unit()->create_function(
        c10::QualifiedName(*module_.type()->name(), "forward"), graph_);
    module_.type()->addMethod(forward);
    return std::move(module_);
  }

 private:
  Value* add_input(const TensorMeta& input) {
    return graph_->addInput(input.name)->setType(c10::TensorType::get());
  }

  Value* value(const OpNode& node, size_t input) {
    const auto found = values_.find(node.inputs[input].name);
    if (found == values_.end()) refuse(node, "'" + node.inputs[input].name + "' is not a value");
    return found->second;
  }

  Value* list(const OpNode& node, const TensorListArgument& argument, const c10::TypePtr& element) {
    std::vector<Value*> elements;
    for (const std::optional<size_t>& input : argument.inputs) {
      elements.push_back(input ? value(node, *input) : graph_->insertConstant(c10::IValue()));
    }
    return graph_->insertNode(graph_->createList(element, elements))->output();
  }

  Value* argument(const OpNode& node, const BoundArgument& bound, const c10::Argument& schema) {
    if (const auto* tensor = std::get_if<TensorArgument>(&bound)) return value(node, tensor->input);
    if (const auto* tensors = std::get_if<TensorListArgument>(&bound)) {
      return list(node, *tensors, schema.type()->expectRef<c10::ListType>().getElementType());
    }
    if (const auto* attribute = std::get_if<AttributeArgument>(&bound)) {
      if (!value_refs(*attribute->value).empty()) refuse(node, "it takes a number of the graph");
      c10::IValue constant = to_ivalue(*attribute->value, schema);
      // A graph that was captured without data runs where its inputs are.
      if (constant.isDevice() && constant.toDevice().is_meta()) constant = c10::Device(c10::kCPU);
      return graph_->insertConstant(std::move(constant));
    }
    return graph_->insertConstant(schema.default_value().value_or(c10::IValue()));
  }

  void add_node(const OpNode& node) {
    const std::optional<c10::OperatorHandle> handle = find_operator(node.op_type);
    if (!handle) refuse(node, "it is no operator of the dispatcher");
    const c10::FunctionSchema& schema = handle->schema();
    std::vector<Value*> arguments;
    const std::vector<BoundArgument> bound = bind_node(node, schema);
    for (size_t i = 0; i < bound.size(); ++i) {
      arguments.push_back(argument(node, bound[i], schema.arguments()[i]));
    }
    Node* call = graph_->insertNode(graph_->create(c10::Symbol::fromQualString(schema.name()),
                                                   arguments, schema.returns().size()));
    for (size_t i = 0; i < schema.returns().size(); ++i) {
      call->output(i)->setType(schema.returns()[i].type());
    }
    const torch::jit::Operator* chosen = call->maybeOperator();
    if (chosen == nullptr || chosen->schema().overload_name() != schema.overload_name()) {
      refuse(node, "its arguments fit another overload");
    }
    name_outputs(node, call);
  }

  void name_outputs(const OpNode& node, Node* call) {
    const bool is_list =
        call->outputs().size() == 1 && call->output()->type()->kind() == c10::TypeKind::ListType;
    if (is_list)
      call = graph_->insertNode(graph_->createListUnpack(call->output(), node.outputs.size()));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      values_[node.outputs[i].name] = call->outputs().at(i);
    }
  }

  const IR& ir_;
  Module module_;
  std::shared_ptr<Graph> graph_;
  std::unordered_map<std::string, Value*> values_;
};

}  // namespace

torch::jit::Module to_torchscript(const IR& ir, const StateDict& weights) {
  return GraphBuilder(ir, weights).build();
}

}  // namespace torch_ir
