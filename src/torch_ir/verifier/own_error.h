// OwnErrors: judges each value by the error that its own node adds.
//
// A node is computed again in float64 from the values that the executor returned for its inputs.
// What differs is the node's own error; what its inputs brought is not. It is compared with the
// yardstick's error on the same inputs. Values that were not returned are computed too, so a value
// behind them has the own error of all nodes since returned ones.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "torch_ir/base/tolerance.h"
#include "torch_ir/runtime/graph/case.h"
#include "torch_ir/verifier/arithmetic.h"
#include "torch_ir/verifier/compare_nodes.h"
#include "torch_ir/verifier/yardstick.h"

namespace torch_ir {

struct OwnError {
  ArithmeticVerdict verdict = {};
  // Whether the value is within the tolerance of what its node makes, which excuses it.
  bool is_close = false;
  // Why the value could not be judged, one line; the verdict is then meaningless.
  std::string not_judged = {};
  // Values that were wrong, and of which this one shows that the executor did not use them: it is
  // right if it was computed from right ones.
  std::vector<std::string> exonerated = {};
  // Indices that differ from the yardstick's, chosen between values closer than their errors.
  int64_t num_other_choices = 0;

  bool is_right() const { return not_judged.empty() && (is_close || verdict.problem.empty()); }
};

class OwnErrors {
 public:
  // An executor in an arithmetic may also keep weights and inputs as they are. Never throws: a
  // failure becomes the reason why nothing is judged.
  OwnErrors(const Case& graph_case, const ArithmeticOptions& options);
  ~OwnErrors();
  OwnErrors(const OwnErrors&) = delete;
  OwnErrors& operator=(const OwnErrors&) = delete;

  // Judges a value of a node as the executor returned it. Called in the order of the graph; values
  // that are left out were not returned.
  OwnError judge(const std::string& name, const SeenValue& returned,
                 const Tolerance& tolerance = kExactTolerance);

  // Whether a value of the model is within `tolerance` of what the graph's node makes of the
  // model's values before it, so that the graph describes the model there. Called as `judge`.
  bool describes(const std::string& name, const at::Tensor& of_model, const Tolerance& tolerance);

  // Wrong values that make no difference to the values that are computed from them, bit for bit.
  std::vector<std::string> ineffective() const;

 private:
  struct State;

  std::unique_ptr<State> state_;
  std::string failure_;
};

}  // namespace torch_ir
