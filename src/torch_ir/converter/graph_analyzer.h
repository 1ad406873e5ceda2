// GraphAnalyzer: gives the parts of the IR of an exported program one by one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

class GraphAnalyzer {
 public:
  // Keeps a reference: `program` must outlive the analyzer.
  explicit GraphAnalyzer(const ExportedProgram& program)
      : GraphAnalyzer(static_cast<const ExportedGraph&>(program)) {
    program_ = &program;
  }
  explicit GraphAnalyzer(ExportedProgram&&) = delete;
  // Analyzes the graph of a control flow node, which has neither weights nor constants.
  explicit GraphAnalyzer(const ExportedGraph& graph);
  explicit GraphAnalyzer(ExportedGraph&&) = delete;

  std::vector<TensorMeta> get_graph_inputs() const;
  // With `mutates` set for new values of placeholders.
  std::vector<TensorMeta> get_graph_outputs() const;
  // Under their state dict names: parameters, buffers, constants.
  std::vector<TensorMeta> get_weights() const;
  // Placeholder to state dict name, in the same order.
  torch::OrderedDict<std::string, std::string> get_weight_name_mapping() const;
  const std::vector<ExportedNode>& get_call_function_nodes() const { return graph_.nodes; }
  // Constants on the meta device have no data, and are left out with a warning.
  StateDict get_constants() const;

  // A value as an input of a node: with its producer, if a node or the caller makes it. Throws
  // ConversionError if there is no such value.
  TensorMeta get_input_meta(ValueId value) const;
  TensorMeta get_input_meta(const std::string& name) const { return get_input_meta(find(name)); }
  // A value as an output: without a producer.
  TensorMeta get_output_meta(ValueId value) const;
  TensorMeta get_output_meta(const std::string& name) const { return get_output_meta(find(name)); }

 private:
  struct Producer {
    std::string node;
    int64_t output_idx;
  };

  ValueId find(const std::string& name) const;

  const ExportedGraph& graph_;
  // Null for the graph of a node.
  const ExportedProgram* program_ = nullptr;
  std::vector<std::optional<Producer>> producers_;
};

}  // namespace torch_ir
