// Costs of a graph, from the graph alone: multiply-adds, parameters, bytes, memory.
//
// Read by `torch-ir info` and the reports. Multiply-adds are products whose results are added up:
// those of convolutions, matrix products, attention and recurrent layers. They are what the field
// counts (torch.utils.flop_counter, which takes each for two operations, and fvcore): all else,
// elementwise, normalizations, reductions, pooling, moves memory and has none. The products with
// the zeros of a padding count, the addition of a bias does not, a causal mask saves nothing.
//
// What can not be known is named, and never counted as 0: an operator of which nothing is known,
// one that runs as often as data says, sizes that only a run has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/sym_expr.h"

namespace torch_ir {

struct NodeCost {
  // Nothing where they are not known, see GraphCost::not_counted.
  std::optional<int64_t> multiply_adds = std::nullopt;
  // Elements of the weights that it reads, also through views, each weight once.
  int64_t parameters = 0;
  // Of each output, in the order of the node; nothing where only a run knows. Views count as what
  // they show, numbers as nothing.
  std::vector<std::optional<int64_t>> output_bytes = {};
};

// Nodes of one operator, those in the graphs of control flow included.
struct OperatorCost {
  std::string op_type = {};
  int64_t num_nodes = 0;
  // Of the nodes of which they are known.
  int64_t multiply_adds = 0;
  // Each weight once, however many nodes of the operator read it.
  int64_t parameters = 0;
  // Of all outputs that are known.
  int64_t output_bytes = 0;
};

// Nodes whose multiply-adds are not known.
struct NotCounted {
  std::string op_type = {};
  int64_t num_nodes = 0;
  // "nothing is known of the operator".
  std::string reason = {};
};

// What is said of a graph in a few figures.
struct CostTotals {
  // Of the nodes of which they are known.
  int64_t multiply_adds = 0;
  // The others.
  std::vector<NotCounted> not_counted = {};
  int64_t input_bytes = 0;
  int64_t weight_bytes = 0;
  // The largest value that a node makes in memory of its own, and how large that is; empty and 0
  // where no node makes any.
  std::string largest_value = {};
  int64_t largest_bytes = 0;
  // The least memory that all values of nodes need when nodes run in the order of the graph: each
  // from the node that makes it to the last one that reads it, outputs of the graph to the end.
  // Views, and what may be one, share the memory of what they show. Inputs and weights, which are
  // the caller's, do not count.
  int64_t peak_bytes = 0;
  // The node that runs then.
  std::string peak_node = {};
  // Values, inputs and weights whose bytes only a run knows: they are in no figure.
  int64_t num_unknown_sizes = 0;
};

struct GraphCost {
  CostTotals totals = {};
  // One for each node of the graph, in order.
  std::vector<NodeCost> nodes = {};
  // Those with the most multiply-adds first, then those with the most bytes.
  std::vector<OperatorCost> operators = {};
};

GraphCost cost_of(const IR& ir);

// `ir` with sizes in place of the expressions that `sizes` has the symbols of: what it costs in a
// run with these.
IR at_sizes(const IR& ir, const SymbolValues& sizes);

// "not counted: aten.foo.default (3 nodes), nothing is known of the operator; ..."; empty where all
// is counted.
std::string not_counted_text(const CostTotals& totals);

// "1.23 MB", with prefixes of 1000; "12 B".
std::string bytes_text(int64_t bytes);

}  // namespace torch_ir
