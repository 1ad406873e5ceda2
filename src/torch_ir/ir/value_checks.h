// What is wrong with the parts of a graph by themselves: what a value is declared as, and how the
// graphs of control flow fit their node.
//
// Used by validate.cc.
#pragma once

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
  // Each problem is behind `prefix`.
  ProblemReport(std::string prefix, std::vector<std::string>& problems)
      : prefix_(std::move(prefix)), problems_(problems) {}

  template <class... Args>
  void operator()(fmt::format_string<Args...> format, Args&&... args) const {
    add(fmt::format(format, std::forward<Args>(args)...));
  }
  // For what is inside of a part of it.
  ProblemReport inside(const std::string& part) const { return {prefix_ + part, problems_}; }

 private:
  void add(const std::string& problem) const;

  std::string prefix_;
  std::vector<std::string>& problems_;
};

// What one part of a graph says about a value, against how it is declared: "has shape [1], but is
// made with shape [2]". Nothing when they agree.
std::optional<std::string> disagreement(const TensorMeta& use, const TensorMeta& declaration);

// Checks a declaration by itself; `what` is what it is: "node 'n': output ".
void check_meta(const TensorMeta& meta, const std::string& what, const ProblemReport& report);

// Checks that a run can compute the sizes of a graph input. Those of other values it may not be
// able to know.
void check_input_sizes(const TensorMeta& input, const ProblemReport& report);

// How the Python package calls the node that takes one output of a node with several.
inline constexpr std::string_view kGetItem = "<built-in function getitem>";

// Checks a node of this name.
void check_getitem(const OpNode& node, const ProblemReport& report);

// Checks that the graphs of a control flow node, of which it has as many as it should, take and
// return what the node does.
void check_control_flow(const OpNode& node, const ProblemReport& report);

}  // namespace torch_ir
