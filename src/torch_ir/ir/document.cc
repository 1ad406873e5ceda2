#include "torch_ir/ir/document.h"

#include <ATen/core/function_schema.h>
#include <ATen/core/jit_type.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <array>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/json.h"

namespace torch_ir {
namespace {

// The order of a state dict: parameters, buffers, then constants.
constexpr std::array kWeightKinds = {InputKind::kParameter, InputKind::kBuffer,
                                     InputKind::kConstant};

template <class Visit>
void for_each_weight(const Graph& graph, Visit visit) {
  for (const InputKind kind : kWeightKinds) {
    for (const GraphInput& input : graph.inputs) {
      if (input.kind == kind) visit(input);
    }
  }
}

void encode_with_schema(const Node& node, const c10::FunctionSchema& schema,
                        const InputOf& input_of, OpNode& converted) {
  GivenArguments arguments(schema.arguments().size());
  for (const Argument& argument : node.arguments) {
    const auto index = schema.argumentIndexWithName(argument.name);
    if (!index) {
      throw ConversionError(fmt::format("node '{}': {} has no argument '{}'", printable(node.name),
                                        printable(node.target), printable(argument.name)));
    }
    arguments[static_cast<size_t>(*index)] = argument.value;
  }
  encode_arguments(schema, arguments, input_of, converted);
}

// Without a schema positions mean nothing, so each input names its argument.
void encode_by_name(const Node& node, const InputOf& input_of, OpNode& converted) {
  std::vector<c10::Argument> schema;
  GivenArguments values;
  for (const Argument& argument : node.arguments) {
    schema.emplace_back(argument.name, c10::AnyType::get());
    values.emplace_back(argument.value);
    auto* attribute = std::get_if<Attribute>(&*values.back());
    if (attribute != nullptr) *attribute = untyped_form(*attribute);
  }
  encode_arguments(c10::FunctionSchema(node.target, "", schema, {}), values, input_of, converted);
  auto input = converted.inputs.begin();
  for (const Argument& argument : node.arguments) {
    for_each_value(argument, [&](ValueId) { (input++)->arg = argument.name; });
  }
}

void convert_graph(const Graph& graph, const GraphAnalyzer& analyzer, const OpConverter& convert,
                   IRGraph& converted) {
  converted.graph_inputs = analyzer.get_graph_inputs();
  converted.graph_outputs = analyzer.get_graph_outputs();
  converted.constant_outputs = graph.constant_outputs;
  for (const Node& node : graph.nodes) {
    OpNode& call = converted.nodes.emplace_back(convert(node, analyzer));
    call.module = node.origin.module;
    for (const Graph& inner : node.graphs) {
      convert_graph(inner, GraphAnalyzer(inner), convert, call.graphs.emplace_back());
    }
  }
}

}  // namespace

GraphAnalyzer::GraphAnalyzer(const Graph& graph) : graph_(graph) {
  const std::vector<ValueId> user_inputs = graph.user_inputs();
  user_inputs_.insert(user_inputs.begin(), user_inputs.end());
}

std::vector<TensorMeta> GraphAnalyzer::get_graph_inputs() const {
  std::vector<TensorMeta> inputs;
  for (const ValueId input : graph_.user_inputs()) {
    inputs.push_back(get_output_meta(input));
    inputs.back().strides = graph_[input].strides;
  }
  return inputs;
}

std::vector<TensorMeta> GraphAnalyzer::get_graph_outputs() const {
  std::vector<TensorMeta> outputs;
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    const Mutation* mutation = program_ == nullptr ? nullptr : program_->find_mutation(i);
    if (mutation != nullptr && mutation->in_place) continue;
    outputs.push_back(get_output_meta(graph_.outputs[i]));
    if (mutation != nullptr) outputs.back().mutates = graph_[mutation->placeholder].name;
  }
  return outputs;
}

std::vector<TensorMeta> GraphAnalyzer::get_weights() const {
  std::vector<TensorMeta> weights;
  std::unordered_set<std::string_view> names;
  for_each_weight(graph_, [&](const GraphInput& input) {
    if (!names.insert(input.target).second) return;
    weights.push_back(get_output_meta(input.value));
    weights.back().name = input.target;
    weights.back().strides = graph_[input.value].strides;
    weights.back().requires_grad = graph_[input.value].requires_grad;
  });
  return weights;
}

torch::OrderedDict<std::string, std::string> GraphAnalyzer::get_weight_name_mapping() const {
  torch::OrderedDict<std::string, std::string> mapping("Placeholder");
  for_each_weight(graph_, [&](const GraphInput& input) {
    mapping.insert(graph_[input.value].name, input.target);
  });
  return mapping;
}

StateDict GraphAnalyzer::get_constants() const {
  StateDict constants("Constant");
  if (program_ == nullptr) return constants;
  std::vector<std::string> skipped;
  for (const auto& item : program_->constants) {
    if (item.value().is_meta()) {
      skipped.push_back(item.key());
    } else {
      constants.insert(item.key(), item.value());
    }
  }
  if (!skipped.empty()) {
    TORCH_WARN(
        fmt::format("Skipping {} meta-device constant(s) (shape/dtype already in weights): [{}]",
                    skipped.size(), quoted_list(skipped)));
  }
  return constants;
}

TensorMeta GraphAnalyzer::get_input_meta(ValueId value) const {
  TensorMeta meta = get_output_meta(value);
  if (const auto producer = graph_[value].producer) {
    meta.producer_node = graph_.nodes[*producer].name;
    meta.producer_output_idx = graph_[value].output_index;
  } else if (user_inputs_.contains(value)) {
    meta.producer_node = meta.name;
  }
  return meta;
}

TensorMeta GraphAnalyzer::get_output_meta(ValueId value) const {
  if (value >= graph_.values.size()) {
    throw ConversionError(fmt::format("the exported program has no value {}", value));
  }
  const Value& known = graph_[value];
  return {.name = known.name,
          .shape = known.shape,
          .dtype = dtype_name(known.dtype),
          .symbolic_shape = known.symbolic_shape,
          .is_scalar = known.is_scalar,
          .expression = known.expression};
}

ValueId GraphAnalyzer::find(const std::string& name) const {
  if (const auto value = graph_.find(name)) return *value;
  throw ConversionError("the exported program has no value '" + printable(name) + "'");
}

OpNode convert_default(const Node& node, const GraphAnalyzer& analyzer) {
  OpNode converted;
  converted.name = node.name;
  converted.op_type = node.target;
  const auto input_of = [&](ValueId value) { return analyzer.get_input_meta(value); };
  const c10::FunctionSchema* schema = find_schema(node.target);
  if (schema != nullptr && node.find_opaque() == nullptr) {
    encode_with_schema(node, *schema, input_of, converted);
  } else {
    encode_by_name(node, input_of, converted);
  }
  for (const ValueId output : node.outputs) {
    converted.outputs.push_back(analyzer.get_output_meta(output));
  }
  return converted;
}

IR to_ir(const Program& program, const OpConverter& convert) {
  const GraphAnalyzer analyzer(program);
  IR ir;
  ir.model_name = program.model_name;
  ir.pytorch_version = program.torch_version;
  convert_graph(program, analyzer, convert, ir);
  ir.weights = analyzer.get_weights();
  ir.weight_name_mapping = analyzer.get_weight_name_mapping();
  ir.tied_weights = program.tied_weights;
  for (const Mutation& mutation : program.mutations) {
    if (mutation.in_place) ir.state.push_back(program[mutation.placeholder].name);
  }
  ir.constant_inputs = program.constant_inputs;
  ir.range_constraints = program.range_constraints;
  ir.guards = program.guards;
  ir.constants = analyzer.get_constants();
  return ir;
}

}  // namespace torch_ir
