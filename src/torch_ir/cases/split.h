// split: a model taken apart into its different calls, each a case of its own.
//
// What `torch-ir split` writes and `harness --split` runs. Two calls are the same when operator,
// attributes, and shapes, dtypes and strides of all tensors are; the case has the values of the
// first. Sizes that differ from run to run are those of the run at hand.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "torch_ir/cases/graph_case.h"
#include "torch_ir/exporter/exported_program.h"

namespace torch_ir {

// The category of all of them.
inline constexpr const char* kSplitCategory = "split";

// A model to be taken apart: what it runs with.
struct SplitModel {
  // As occurrences name it.
  std::string name = {};
  const IR* ir = nullptr;
  const StateDict* weights = nullptr;
  std::vector<at::Tensor> inputs = {};
  NodeOrigins origins = {};
};

// Collects the calls of several models, each different one once.
class Splitter {
 public:
  Splitter() = default;
  // Goes on where another was that had these cases and keys.
  Splitter(std::vector<CaseInfo> cases, const std::vector<std::string>& keys);

  // Told of each new case, which has its tensors and no occurrence yet.
  using CaseSink = std::function<void(GraphCase&)>;

  // Runs `model` eagerly, node by node, and gives `sink` the calls that no model before had. Calls
  // on what is no tensor and no number are left out, and so is what only hands on a value. Throws
  // ExecutionError, naming the node.
  void add(const SplitModel& model, const CaseSink& sink);

  // All cases until now, with their occurrences.
  const std::vector<CaseInfo>& cases() const { return cases_; }
  // What tells each case from the others.
  std::vector<std::string> keys() const;

 private:
  void describe(GraphCase& graph_case);

  std::vector<CaseInfo> cases_;
  std::unordered_map<std::string, size_t> by_key_;
  std::unordered_set<std::string> names_;
};

}  // namespace torch_ir
