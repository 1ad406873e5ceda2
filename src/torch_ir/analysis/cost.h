// GraphCost: the multiply-adds, parameters, bytes and memory of a graph.
//
// Multiply-adds are products whose results are added up: those of convolutions, matrix products,
// attention and recurrent layers, as usually counted (torch.utils.flop_counter, which counts each
// as two operations, and fvcore). All other operators have none. Products with the zeros of a
// padding count, the addition of a bias does not, and a causal mask saves nothing.
//
// Unknown costs are reported by name, never counted as 0: unknown operators, loops whose number of
// iterations depends on data, dynamic sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/ir/field_list.h"
#include "torch_ir/ir/program.h"
#include "torch_ir/ir/sym_expr.h"

namespace torch_ir {

struct NodeCost {
  // Empty if unknown, see CostTotals::not_counted.
  std::optional<int64_t> multiply_adds = std::nullopt;
  // The weights that it reads, also through views: their first placeholders, each once.
  std::vector<ValueId> weights = {};
  // For each output; empty if dynamic. Views count in full, numbers as nothing.
  std::vector<std::optional<int64_t>> output_bytes = {};
};

// The nodes of one operator, including those in the graphs of control flow.
struct OperatorCost {
  std::string op_type = {};
  int64_t num_nodes = 0;
  // Sum over the nodes whose multiply-adds are known, and whether those of all are.
  int64_t multiply_adds = 0;
  bool is_counted = true;
  // Each weight once, however many nodes of the operator read it.
  int64_t parameters = 0;
  // Sum over all outputs of known size.
  int64_t output_bytes = 0;
};
TORCH_IR_FIELDS(OperatorCost, num_nodes, multiply_adds, parameters, output_bytes)

struct NotCounted {
  std::string op_type = {};
  int64_t num_nodes = 0;
  // "unknown operator".
  std::string reason = {};
};
TORCH_IR_FIELDS(NotCounted, op_type, num_nodes, reason)

struct CostTotals {
  int64_t multiply_adds = 0;
  std::vector<NotCounted> not_counted = {};
  int64_t input_bytes = 0;
  int64_t weight_bytes = 0;
  // The largest value that a node makes in memory of its own; empty and 0 if there is none.
  std::string largest_value = {};
  int64_t largest_bytes = 0;
  // The least memory for the values of all nodes when they run in the order of the graph: each
  // lives from its node to its last reader, outputs of the graph to the end. Views, and potential
  // views, share memory. The caller's inputs and weights do not count.
  int64_t peak_bytes = 0;
  // The node that runs at the peak.
  std::string peak_node = {};
  // Values, inputs and weights of dynamic size, which no figure includes.
  int64_t num_unknown_sizes = 0;
};
TORCH_IR_FIELDS(CostTotals, multiply_adds, not_counted, input_bytes, weight_bytes, largest_value,
                largest_bytes, peak_bytes, peak_node, num_unknown_sizes)

struct GraphCost {
  CostTotals totals = {};
  std::vector<NodeCost> nodes = {};
  // Most multiply-adds first, then most bytes.
  std::vector<OperatorCost> operators = {};
};

GraphCost cost_of(const Program& program);

// Replaces the expressions whose symbols are all in `sizes` with sizes.
Program at_sizes(Program program, const SymbolValues& sizes);

// "not counted: aten.foo.default (3 nodes), unknown operator; ..."; empty if everything is
// counted.
std::string not_counted_text(const CostTotals& totals);

// "1.23 MB", with prefixes of 1000; "12 B".
std::string bytes_text(int64_t bytes);

}  // namespace torch_ir
