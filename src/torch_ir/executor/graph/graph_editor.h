// GraphEditor: finds and replaces nodes of a graph.
//
// Used by the passes of `fast`. Nodes keep their numbers until `finish`, and their names and
// `op_type`, which messages and profiles show, always: what a node calls is its callee.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/executor/graph/lowered_graph.h"

namespace torch_ir {

class GraphEditor {
 public:
  explicit GraphEditor(LoweredGraph& graph);

  // Drops the nodes that were removed.
  void finish();

  size_t num_nodes() const { return graph_.nodes.size(); }
  const LoweredNode& node(size_t index) const { return graph_.nodes[index]; }

  // The node that makes `value`, if one does.
  std::optional<size_t> producer(ValueId value) const;
  // The one node that reads `value`, and reads it once; nothing when there are more, or it is an
  // output of the graph.
  std::optional<size_t> only_user(ValueId value) const;

  bool is_unused(ValueId value) const { return !is_output_[value] && users_[value].empty(); }

  // Whether the node calls this operator: "aten.conv2d.default".
  bool calls(size_t index, std::string_view op_type) const;
  // The argument by its name in the operator's schema; it must have one.
  const NodeArgument& argument(size_t index, std::string_view name) const;
  // The value that the argument is; nothing for None and all that is no value.
  std::optional<ValueId> value(size_t index, std::string_view name) const;
  // The tensor that the argument is in every run; undefined otherwise.
  at::Tensor constant(size_t index, std::string_view name) const;
  // What the IR says of the value that the argument is; null where it is none, or a constant.
  const TensorMeta* meta(size_t index, std::string_view name) const;
  const TensorMeta& meta_of(ValueId value) const { return graph_.values[value].meta; }
  // What the argument is in every run, for those that are no tensors; None where a run decides.
  c10::IValue fixed(size_t index, std::string_view name) const;

  // The argument that `constant` is.
  NodeArgument add_constant(at::Tensor constant);
  void set_argument(size_t index, std::string_view name, NodeArgument argument);
  // Node `index` calls `op_type` from now on, and makes what it made.
  void replace(size_t index, const std::string& op_type, std::vector<NodeArgument> arguments);
  // Node `later` is what node `earlier`, which only it reads, and itself were together.
  void absorb(size_t earlier, size_t later);

 private:
  size_t position(size_t index, std::string_view name) const;
  void link(size_t index);
  void unlink(size_t index);

  LoweredGraph& graph_;
  std::vector<bool> is_removed_;
  std::vector<std::vector<size_t>> users_;
  std::vector<std::optional<size_t>> producers_;
  std::vector<bool> is_output_;
};

}  // namespace torch_ir
