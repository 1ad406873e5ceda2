// IRConverter: converts an exported program to an IR.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/ir/document.h"

namespace torch_ir {

// Registers a converter, which turns calls of `op_type` ("aten.conv2d.default") into nodes of the
// IR; it does not register an operator. It replaces an earlier one. Operators without one use
// convert_default. Thread-safe.
void register_op(const std::string& op_type, OpConverter converter);

std::vector<std::string> list_registered_ops();

class IRConverter {
 public:
  // If a registered converter throws: strict rethrows it as a ConversionError, otherwise the
  // default converter is used, with a warning.
  explicit IRConverter(bool strict = false) : strict_(strict) {}

  // `model_name` replaces the program's own unless it is empty. The result is validated.
  IR convert(const Program& program, const std::string& model_name = "") const;

 private:
  OpNode convert_call(const Node& node, const GraphAnalyzer& analyzer) const;

  bool strict_;
};

IR convert_exported_program(const Program& program, const std::string& model_name = "",
                            bool strict = false);

}  // namespace torch_ir
