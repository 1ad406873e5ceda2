#include "torch_ir/converter/converter.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/named_registry.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/converter/extract.h"
#include "torch_ir/exporter/capture/capture.h"
#include "torch_ir/exporter/capture/lifted_constants.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/tensor_text.h"

namespace torch_ir {
namespace {

NamedRegistry<OpConverter>& registry() {
  static NamedRegistry<OpConverter> instance;
  return instance;
}

}  // namespace

void register_op(const std::string& op_type, OpConverter converter) {
  registry().set(op_type, std::move(converter));
}

std::vector<std::string> list_registered_ops() { return registry().names(); }

OpNode IRConverter::convert_call(const Node& node, const GraphAnalyzer& analyzer) const {
  const OpConverter converter = registry().find(node.target);
  if (!converter) return convert_default(node, analyzer);
  try {
    return converter(node, analyzer);
  } catch (const std::exception& error) {
    const std::string message =
        fmt::format("node '{}': the converter registered for {} failed: {}", printable(node.name),
                    printable(node.target), message_text(error));
    if (strict_) throw ConversionError(message);
    TORCH_WARN(message, "; using the default converter");
    return convert_default(node, analyzer);
  }
}

IR IRConverter::convert(const Program& program, const std::string& model_name) const {
  IR ir = to_ir(program, [this](const Node& node, const GraphAnalyzer& analyzer) {
    return convert_call(node, analyzer);
  });
  if (!model_name.empty()) ir.model_name = model_name;
  try {
    validate_ir(ir);
  } catch (const ValidationError& error) {
    throw ConversionError(error, std::string("the converted graph is not valid: ") + error.what());
  }
  return ir;
}

IR convert_exported_program(const Program& program, const std::string& model_name, bool strict) {
  return IRConverter(strict).convert(program, model_name);
}

void check_constants(const Program& program) {
  for (const GraphInput& input : program.inputs) {
    const bool is_unnamed =
        input.kind == InputKind::kConstant && input.target.starts_with(kUnnamedConstant);
    if (!is_unnamed || !program.constants[input.target].is_meta()) continue;
    const Value& value = program[input.value];
    throw ExportError(fmt::format(
        "cannot export {}: constant '{}' ({}){} has no values: it is a tensor of the module that "
        "is neither a parameter nor a buffer, on the meta device; name it with register_constant "
        "(lifted_constants.h), or make the module on the CPU",
        program.model_name.empty() ? "the model" : "model '" + printable(program.model_name) + "'",
        input.target, dtype_and_shape(value),
        value.readers.empty()
            ? ""
            : fmt::format(", read by node '{}',", program.nodes[value.readers[0]].name)));
  }
}

IR extract_ir(const Model& model, const std::vector<at::Tensor>& inputs,
              const ExtractOptions& options) {
  const Program program = export_model(model, inputs, options);
  check_constants(program);
  return convert_exported_program(program, options.model_name, options.strict);
}

}  // namespace torch_ir
