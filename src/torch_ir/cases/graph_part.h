// GraphPart: a part of a graph, as a program of its own.
//
// A part has consecutive nodes, except those that the wanted values do not need; the values of
// earlier nodes become graph inputs. A group of nodes (node_groups.h) is in it as a whole or not at
// all. Dynamic sizes are fixed to those of one run.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "torch_ir/cases/node_groups.h"
#include "torch_ir/ir/program.h"
#include "torch_ir/runtime/graph/graph_memory.h"

namespace torch_ir {

// By names of values, since a model may report the values of another program than the one that is
// cut.
struct RunFacts {
  // May differ from what the graph declares.
  std::unordered_map<std::string, std::vector<int64_t>> shapes = {};
  std::unordered_map<std::string, c10::ScalarType> dtypes = {};
  // Replace references in attributes; other numbers become inputs.
  std::unordered_map<std::string, Attribute> numbers = {};

  void add(const std::string& name, const at::Tensor& value) {
    shapes[name] = value.sizes().vec();
    dtypes[name] = value.scalar_type();
  }
};

// Nodes [first, last], whole groups, and those of their values that are wanted.
struct NodeRange {
  size_t first = 0;
  size_t last = 0;
  std::vector<ValueId> outputs = {};
  // Whether nodes that return nothing (an assertion) belong to the part too.
  bool keeps_silent_nodes = false;
};

struct GraphPart {
  // Its inputs have the names of the values they replace: graph inputs, outputs of nodes, and
  // placeholders of weights whose values differ from the state dict.
  Program program = {};
  // Indices in the whole graph, ascending.
  std::vector<size_t> nodes = {};
  // Explains why the part would compute other values than the whole graph; empty if it would not.
  // Values that share memory that is written to must be cut together.
  std::string problem = {};
};

// Cuts out the nodes of `range`. Weights for which `is_input` holds become inputs; if it is null,
// those that nodes before the part may write to.
GraphPart cut_part(const GroupedGraph& graph, const GraphMemory& memory, const NodeRange& range,
                   const RunFacts& run,
                   const std::function<bool(ValueId placeholder)>& is_input = nullptr);

// The nodes of a program that this process can compute.
struct ComputablePart {
  // By number of the node.
  std::vector<bool> is_computable = {};
  // The operators that this process cannot run, each once, and the nodes that call them.
  std::vector<std::string> unsupported = {};
  size_t num_unsupported = 0;
  // Other nodes that are left out: they need values of these, or come after one whose name ("foo_")
  // says that it may write to its inputs.
  size_t num_dependent = 0;

  bool is_whole() const { return num_unsupported == 0; }
  // "3 of 19 nodes are left out: ...", one line; empty if it is the whole graph.
  std::string left_out() const;
};

ComputablePart computable_part(const Program& program);

// The program with the computable nodes only, and the outputs that they make.
Program without_uncomputable(Program program, const ComputablePart& part);

}  // namespace torch_ir
