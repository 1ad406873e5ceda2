// IRConverter: converts an exported program to an IR.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "torch_ir/converter/graph_analyzer.h"
#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

using OpConverter = std::function<OpNode(const ExportedNode& node, const GraphAnalyzer& analyzer)>;

// Makes `converter` the one for `op_type` ("aten.conv2d.default"), replacing an earlier one.
// Operators without one use convert_default. Thread-safe.
void register_op(const std::string& op_type, OpConverter converter);

std::vector<std::string> list_registered_ops();

// The default converter: the tensors of the call become inputs, the rest attributes (ir/binding.h).
// Operators that this process does not know keep all their arguments by name.
OpNode convert_default(const ExportedNode& node, const GraphAnalyzer& analyzer);

class IRConverter {
 public:
  // If a registered converter throws: strict rethrows it as a ConversionError, otherwise the
  // default converter is used, with a warning.
  explicit IRConverter(bool strict = false) : strict_(strict) {}

  // `model_name` replaces the program's own unless it is empty. The result is validated.
  IR convert(const ExportedProgram& program, const std::string& model_name = "") const;

 private:
  OpNode convert_node(const ExportedNode& node, const GraphAnalyzer& analyzer) const;
  OpNode convert_call(const ExportedNode& node, const GraphAnalyzer& analyzer) const;
  void convert_graph(const ExportedGraph& graph, const GraphAnalyzer& analyzer,
                     Graph& converted) const;

  bool strict_;
};

IR convert_exported_program(const ExportedProgram& program, const std::string& model_name = "",
                            bool strict = false);

}  // namespace torch_ir
