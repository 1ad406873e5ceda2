// OwnErrors: judges each value by the error that its own node adds.
//
// A node is computed again in float64 from the values that the executor returned for its inputs.
// What differs is the node's own error; what its inputs brought is not. It is compared with the
// yardstick's error on the same inputs. Values that were not returned are computed too, so a value
// behind them has the own error of all nodes since returned ones.
//
// A value that was rounded to steps is right, element by element, if it is what its node makes of
// its input, changed by its error. The graph's biases are floats; integer hardware keeps them as
// whole numbers of steps s_x * s_w, and is right too. A value may also be computed from values that
// were rounded on the way, were not returned, and are the other side of a near tie.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/base/tolerance.h"
#include "torch_ir/runtime/graph/case.h"
#include "torch_ir/verifier/arithmetic.h"
#include "torch_ir/verifier/compare_nodes.h"
#include "torch_ir/verifier/yardstick.h"

namespace torch_ir {

// Elements of a value in steps that differ from eager's; indices count as off by more.
struct StepCounts {
  int64_t num_off_by_one = 0;
  int64_t num_off_by_more = 0;
  int64_t num_wrong = 0;
};

struct OwnError {
  ArithmeticVerdict verdict = {};
  // Of whole numbers and float8.
  StepCounts steps = {};
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

// A value by eager operators, and with each rounding on the way that was nearly a tie on its other
// side.
struct TieEffect {
  at::Tensor eager;
  at::Tensor flipped;
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

  // What near ties among the values that were not returned do to a value; nothing without any.
  // Called as `judge`.
  std::optional<TieEffect> effect_of_ties(const std::string& name);

  // Wrong values that make no difference to the values that are computed from them, bit for bit.
  std::vector<std::string> ineffective() const;

 private:
  struct State;

  std::unique_ptr<State> state_;
  std::string failure_;
};

}  // namespace torch_ir
