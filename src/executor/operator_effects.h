// What a node does to memory: which arguments it writes, and whose memory its results may share.
//
// Schemas say so with their alias annotations. This file knows the operators whose schema does not
// say all; nobody else has to.
#ifndef TORCH_IR_EXECUTOR_OPERATOR_EFFECTS_H_
#define TORCH_IR_EXECUTOR_OPERATOR_EFFECTS_H_

#include <unordered_map>
#include <vector>

#include "torch_ir/executor/graph.h"

namespace torch_ir {

// One entry for each of PlanNode::arguments.
struct OperatorEffects {
  std::vector<bool> writes;
  std::vector<bool> shares;
};

// On the safe side: an argument may be called written or shared that is not, never the other way
// round. A registered executor writes nothing and may return any of its inputs.
class EffectsTable {
 public:
  // Good until the next call.
  const OperatorEffects& of(const PlanNode& node);

 private:
  // Those that are the same for all nodes of an operator.
  std::unordered_map<const c10::FunctionSchema*, OperatorEffects> by_schema_;
  OperatorEffects of_node_;
};

}  // namespace torch_ir

#endif  // TORCH_IR_EXECUTOR_OPERATOR_EFFECTS_H_
