// Checks of single parts of a graph: declarations of values, lists, and the graphs of control flow.
#pragma once

#include <ATen/core/function_schema.h>
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Collects problems, each as one line, whatever the names in it are.
class ProblemReport {
 public:
  ProblemReport(std::string prefix, std::vector<std::string>& problems)
      : prefix_(std::move(prefix)), problems_(problems) {}

  template <class... Args>
  void operator()(fmt::format_string<Args...> format, Args&&... args) const {
    add(fmt::format(format, std::forward<Args>(args)...));
  }
  ProblemReport inside(const std::string& part) const { return {prefix_ + part, problems_}; }

 private:
  void add(const std::string& problem) const;

  std::string prefix_;
  std::vector<std::string>& problems_;
};

// How one use of a value disagrees with its declaration: "has shape [1], but is declared with shape
// [2]".
std::optional<std::string> disagreement(const TensorMeta& use, const TensorMeta& declaration);

// Checks a declaration by itself; `what` names it: "node 'n': output ".
void check_meta(const TensorMeta& meta, const std::string& what, const ProblemReport& report);

// Checks the strides of a graph input or a weight; `kind` says which it is.
void check_strides(const TensorMeta& tensor, const char* kind, const ProblemReport& report);

// Report strides of what is neither a weight nor an input of the model, and requires_grad of what
// is no weight.
void refuse_strides(const TensorMeta& value, const ProblemReport& report);
void refuse_requires_grad(const TensorMeta& value, const ProblemReport& report);

void check_ranges(const std::vector<SymbolRange>& ranges, const ProblemReport& report);

void check_constant_outputs(const IRGraph& graph, const ProblemReport& report);

// Checks that a run can compute the sizes of a graph input. Sizes of other values may be unknown.
void check_input_sizes(const TensorMeta& input, const ProblemReport& report);

// The Python package's name for the node that takes one output of a node with several.
inline constexpr std::string_view kGetItem = "<built-in function getitem>";

void check_getitem(const OpNode& node, const ProblemReport& report);

// An operator that returns a list can have any number of outputs.
void check_num_outputs(const OpNode& node, const c10::FunctionSchema& schema,
                       const ProblemReport& report);

// Returns whether the number is right.
bool check_num_graphs(const OpNode& node, const ProblemReport& report);

// Checks the inputs and outputs of the graphs of a control flow node, which has the right number of
// graphs, against those of the node.
void check_control_flow(const OpNode& node, const ProblemReport& report);

}  // namespace torch_ir
