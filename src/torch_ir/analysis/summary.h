// IRSummary: counts and shapes of an IR, for `torch-ir info` and the reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

struct IRSummary {
  std::string model_name;
  int64_t num_nodes = 0;
  int64_t num_edges = 0;
  int64_t num_inputs = 0;
  int64_t num_outputs = 0;
  int64_t num_weights = 0;
  // The elements of all weights, and of the buffers among them, whose placeholders are named
  // "b_..."; empty if the name of a placeholder does not show its kind.
  int64_t total_parameters = 0;
  std::optional<int64_t> buffer_elements;
  std::vector<TensorMeta> inputs;
  std::vector<TensorMeta> outputs;
  // Operator and count, most frequent first; ties by first appearance. Includes the graphs of
  // control flow.
  std::vector<std::pair<std::string, int64_t>> op_distribution;
};

IRSummary summarize(const Program& program);

// As above, for `resolve(ir)`, whether or not its nodes fit their operators.
IRSummary summarize(const IR& ir);

// As IRSummary::op_distribution.
std::vector<std::pair<std::string, int64_t>> count_operators(const Graph& graph);

}  // namespace torch_ir
