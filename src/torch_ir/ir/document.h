// Writes a program as a document: GraphAnalyzer gives the parts of its IR one by one, to_ir all.
#pragma once

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

class GraphAnalyzer {
 public:
  // Keeps a reference: `program` must outlive the analyzer.
  explicit GraphAnalyzer(const Program& program)
      : GraphAnalyzer(static_cast<const Graph&>(program)) {
    program_ = &program;
  }
  explicit GraphAnalyzer(Program&&) = delete;
  // Analyzes the graph of a control flow node, which has neither weights nor constants.
  explicit GraphAnalyzer(const Graph& graph);
  explicit GraphAnalyzer(Graph&&) = delete;

  std::vector<TensorMeta> get_graph_inputs() const;
  // With `mutates` set for new values of placeholders, and without IR::state.
  std::vector<TensorMeta> get_graph_outputs() const;
  // Under their state dict names: parameters, buffers, constants.
  std::vector<TensorMeta> get_weights() const;
  // Placeholder to state dict name, in the same order.
  torch::OrderedDict<std::string, std::string> get_weight_name_mapping() const;
  const std::vector<Node>& get_call_function_nodes() const { return graph_.nodes; }
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
  ValueId find(const std::string& name) const;

  const Graph& graph_;
  // Null for the graph of a node.
  const Program* program_ = nullptr;
  std::unordered_set<ValueId> user_inputs_;
};

// The node as OpNode: the tensors of the call become inputs, the rest attributes.
// Operators that this process does not know keep all their arguments by name.
OpNode convert_default(const Node& node, const GraphAnalyzer& analyzer);

using OpConverter = std::function<OpNode(const Node& node, const GraphAnalyzer& analyzer)>;

// The document of `program`, with `convert` for each call; the graphs of its node are converted
// here.
IR to_ir(const Program& program, const OpConverter& convert = convert_default);

}  // namespace torch_ir
