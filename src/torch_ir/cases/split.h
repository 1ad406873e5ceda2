// split: splits a model into its distinct calls, each a case of its own.
//
// Two calls are the same if operator, attributes, and shapes, dtypes and strides of all tensors
// are; the case has the values of the first, and the others do not run. Dynamic sizes are those of
// the current run. A group of nodes is one call, whose results are the values at its border.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "torch_ir/cases/node_groups.h"
#include "torch_ir/cases/suite_case.h"

namespace torch_ir {

inline constexpr const char* kSplitCategory = "split";

struct SplitModel {
  std::string name = {};
  // Without expected outputs.
  Case content = {};
  SourceLines source_lines = {};
  std::vector<NodeGroup> groups = {};
  // Whether each call is a case of its own, also if it equals another.
  bool keeps_equal = false;
  // Names of nodes and groups to take; empty for all.
  std::set<std::string> only = {};
};

// Collects the calls of several models, each different one once.
class Splitter {
 public:
  Splitter() = default;
  // Continues from another splitter's cases and keys.
  Splitter(std::vector<CaseInfo> cases, const std::vector<std::string>& keys);

  // Receives each new case, which has its tensors and no occurrence yet.
  using CaseSink = std::function<void(const SuiteCase&)>;

  // Runs `model` eagerly, node by node, and passes new calls to `sink`. Skips calls that return no
  // tensor or only pass on a value. Returns one line about everything else that was left out: by
  // computable_part, a group that cannot run alone, or because there was no call to take; empty
  // if nothing was. Throws ExecutionError, naming the node, and as group_nodes.
  std::string add(const SplitModel& model, const CaseSink& sink);

  const std::vector<CaseInfo>& cases() const { return cases_; }
  std::vector<std::string> keys() const;

 private:
  void name_case(SuiteCase& suite_case);

  std::vector<CaseInfo> cases_;
  std::unordered_map<std::string, size_t> by_key_;
  std::unordered_set<std::string> names_;
};

}  // namespace torch_ir
