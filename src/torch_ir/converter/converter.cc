#include "torch_ir/converter/converter.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <map>
#include <mutex>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/converter/extract.h"
#include "torch_ir/exporter/capture/capture.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/validate.h"
#include "torch_ir/python_operators/python_operators.h"

namespace torch_ir {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, OpConverter> converters;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

OpConverter find_converter(const std::string& op_type) {
  const std::lock_guard lock(registry().mutex);
  const auto entry = registry().converters.find(op_type);
  return entry == registry().converters.end() ? OpConverter() : entry->second;
}

CallArgument as_call_argument(const ExportedArgument& argument, const GraphAnalyzer& analyzer) {
  if (const auto* value = std::get_if<ValueId>(&argument.value)) {
    return analyzer.get_input_meta(*value);
  }
  if (const auto* values = std::get_if<ValueList>(&argument.value)) {
    std::vector<std::optional<TensorMeta>> list;
    for (const auto& value : *values) {
      list.push_back(value ? std::optional(analyzer.get_input_meta(*value)) : std::nullopt);
    }
    return list;
  }
  return std::get<Attribute>(argument.value);
}

void encode_with_schema(const ExportedNode& node, const c10::FunctionSchema& schema,
                        const GraphAnalyzer& analyzer, OpNode& converted) {
  std::vector<CallArgument> arguments(schema.arguments().size());
  for (const ExportedArgument& argument : node.arguments) {
    const auto index = schema.argumentIndexWithName(argument.name);
    if (!index) {
      throw ConversionError(fmt::format("node '{}': {} has no argument '{}'", printable(node.name),
                                        printable(node.target), printable(argument.name)));
    }
    arguments[static_cast<size_t>(*index)] = as_call_argument(argument, analyzer);
  }
  encode_arguments(schema, std::move(arguments), converted);
}

// Converts `attribute` to what an IR file gives back without a schema: names for dtypes, devices
// and the like, lists for complex numbers.
struct WithoutType {
  Attribute operator()(c10::ScalarType value) const { return dtype_name(value); }
  Attribute operator()(c10::Layout value) const { return layout_name(value); }
  Attribute operator()(c10::MemoryFormat value) const { return memory_format_name(value); }
  Attribute operator()(c10::Device value) const { return value.str(); }
  Attribute operator()(std::complex<double> value) const {
    return Attribute::list({value.real(), value.imag()});
  }
  Attribute operator()(const Attribute::List& items) const {
    Attribute::List plain;
    for (const Attribute& item : items) plain.push_back(std::visit(*this, item.value()));
    return plain;
  }
  Attribute operator()(std::monostate) const { return {}; }
  template <class Plain>
  Attribute operator()(const Plain& value) const {
    return value;
  }
};

// Without a schema positions mean nothing, so each input names its argument.
void encode_by_name(const ExportedNode& node, const GraphAnalyzer& analyzer, OpNode& converted) {
  for (const ExportedArgument& argument : node.arguments) {
    CallArgument value = as_call_argument(argument, analyzer);
    if (auto* attribute = std::get_if<Attribute>(&value)) {
      converted.attrs.set(argument.name, std::visit(WithoutType(), attribute->value()));
    } else if (auto* tensor = std::get_if<TensorMeta>(&value)) {
      tensor->arg = argument.name;
      converted.inputs.push_back(std::move(*tensor));
    } else {
      throw ConversionError(
          kNotSupported,
          fmt::format("node '{}': argument '{}' is a list of tensors, but the operator {} is "
                      "unknown; {}",
                      printable(node.name), printable(argument.name), printable(node.target),
                      advice_about_unknown(node.target)));
    }
  }
}

}  // namespace

void register_op(const std::string& op_type, OpConverter converter) {
  const std::lock_guard lock(registry().mutex);
  registry().converters[op_type] = std::move(converter);
}

std::vector<std::string> list_registered_ops() {
  const std::lock_guard lock(registry().mutex);
  std::vector<std::string> names;
  for (const auto& [op_type, converter] : registry().converters) names.push_back(op_type);
  return names;
}

OpNode convert_default(const ExportedNode& node, const GraphAnalyzer& analyzer) {
  OpNode converted;
  converted.name = node.name;
  converted.op_type = node.target;
  if (const c10::FunctionSchema* schema = find_schema(node.target)) {
    encode_with_schema(node, *schema, analyzer, converted);
  } else {
    encode_by_name(node, analyzer, converted);
  }
  for (const ValueId output : node.outputs) {
    converted.outputs.push_back(analyzer.get_output_meta(output));
  }
  return converted;
}

OpNode IRConverter::convert_node(const ExportedNode& node, const GraphAnalyzer& analyzer) const {
  OpNode converted = convert_call(node, analyzer);
  converted.module = node.origin.module;
  for (const ExportedGraph& graph : node.graphs) {
    convert_graph(graph, GraphAnalyzer(graph), converted.graphs.emplace_back());
  }
  return converted;
}

OpNode IRConverter::convert_call(const ExportedNode& node, const GraphAnalyzer& analyzer) const {
  const OpConverter converter = find_converter(node.target);
  if (!converter) return convert_default(node, analyzer);
  try {
    return converter(node, analyzer);
  } catch (const std::exception& error) {
    const std::string message =
        fmt::format("node '{}': the converter registered for {} failed: {}", printable(node.name),
                    printable(node.target), error.what());
    if (strict_) throw ConversionError(message);
    TORCH_WARN(message, "; using the default converter");
    return convert_default(node, analyzer);
  }
}

void IRConverter::convert_graph(const ExportedGraph& graph, const GraphAnalyzer& analyzer,
                                Graph& converted) const {
  converted.graph_inputs = analyzer.get_graph_inputs();
  converted.graph_outputs = analyzer.get_graph_outputs();
  converted.constant_outputs = graph.constant_outputs;
  for (const ExportedNode& node : analyzer.get_call_function_nodes()) {
    converted.nodes.push_back(convert_node(node, analyzer));
  }
}

IR IRConverter::convert(const ExportedProgram& program, const std::string& model_name) const {
  const GraphAnalyzer analyzer(program);
  IR ir;
  ir.model_name = model_name.empty() ? program.model_name : model_name;
  ir.pytorch_version = program.torch_version;
  convert_graph(program, analyzer, ir);
  ir.weights = analyzer.get_weights();
  ir.weight_name_mapping = analyzer.get_weight_name_mapping();
  ir.constant_inputs = program.constant_inputs;
  ir.range_constraints = program.range_constraints;
  ir.guards = program.guards;
  ir.constants = analyzer.get_constants();
  try {
    validate_ir(ir);
  } catch (const ValidationError& error) {
    throw ConversionError(error, std::string("the converted graph is not valid: ") + error.what());
  }
  return ir;
}

IR convert_exported_program(const ExportedProgram& program, const std::string& model_name,
                            bool strict) {
  return IRConverter(strict).convert(program, model_name);
}

IR extract_ir(const Model& model, const std::vector<at::Tensor>& inputs,
              const ExtractOptions& options) {
  const ExportedProgram program =
      export_model(model, inputs, {.input_names = options.input_names, .strict = options.strict});
  return convert_exported_program(program, options.model_name, options.strict);
}

}  // namespace torch_ir
