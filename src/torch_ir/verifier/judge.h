// Judge: whether each value of a run is what its graph makes of the values before it.
//
// Lanes (lanes.h) compute a value from those that the run returned before. It is right if its error
// against the exact lane is at most the limit times the eager lane's; docs/verdict.md has the rule.
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
#include <utility>
#include <vector>

#include "torch_ir/base/tolerance.h"
#include "torch_ir/runtime/graph/case.h"
#include "torch_ir/verifier/arithmetic.h"
#include "torch_ir/verifier/value_detail.h"

namespace torch_ir {

// A value as the run of a graph returned it.
struct SeenValue {
  SeenValue() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): most values are just tensors.
  SeenValue(at::Tensor value) : tensor(std::move(value)) {}

  // Undefined if the run does not return it.
  at::Tensor tensor = {};
  // If it was returned quantised, the size of a step, and the range of all steps. The tolerance
  // then grows by half a step.
  double step = 0;
  double low = 0;
  double high = 0;
  // The narrower floating-point dtype that it was returned in, which decides the tolerance.
  std::optional<c10::ScalarType> rounded_to = std::nullopt;

  bool is_rounded() const { return step > 0 || rounded_to; }
};

struct Verdict {
  OwnError own = {};
  // Of whole numbers, float8, and values that were returned quantised.
  StepCounts steps = {};
  // Whether the value is within the tolerance of the eager lane's, which excuses it; see
  // Judge::judge.
  bool is_close = false;
  // Why the value could not be judged, one line; the other members but `is_close` are then
  // meaningless.
  std::string not_judged = {};
  // Indices that differ from the eager lane's, chosen between values closer than their errors.
  int64_t num_other_choices = 0;

  bool is_right() const { return not_judged.empty() && (is_close || own.problem.empty()); }
};

struct JudgeOptions {
  Criterion criterion = {.reference = ReferenceKind::kAuto};
  // Names of values that are not rounded, since they are inside groups of nodes that the executor
  // computes at once.
  std::vector<std::string> inside = {};
  // Whether the run returned outputs only, whose errors are those of all nodes before them.
  bool has_outputs_only = false;
};

class Judge {
 public:
  // An executor in an arithmetic may also keep weights and inputs as they are. Never throws: a
  // failure becomes the reason why nothing is judged.
  Judge(const Case& graph_case, const JudgeOptions& options);
  ~Judge();
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  const Criterion& criterion() const { return criterion_; }

  // Judges a value as the run returned it: that of a node, in the order of the graph, or, at last,
  // an output as it is in the end. Values that are left out were not returned. `tolerance` excuses
  // a difference from the eager lane's; if the criterion is kFloat64, only one that was not judged.
  Verdict judge(const std::string& name, const SeenValue& returned,
                const Tolerance& tolerance = kExactTolerance, bool in_the_end = false);

  // Whether a value of the model is within `tolerance` of what the graph's node makes of the
  // model's values before it, so that the graph describes the model there. Called as `judge`.
  bool describes(const std::string& name, const at::Tensor& of_model, const Tolerance& tolerance);

  // Why near ties among values that were not returned do not explain the difference between two
  // runs in an output; empty if they do. Called as `judge`.
  std::string unexplained_by_ties(const std::string& name, const at::Tensor& one,
                                  const at::Tensor& other);

  // Wrong values that were only returned wrong: a value that is made of them is right only with the
  // lanes' own, and none only with them. With `harmless`, also those without which, and with which,
  // the values made of them are right.
  std::vector<std::string> only_returned_wrong(bool harmless = false) const;

 private:
  struct State;
  template <class Result, class Use>
  Result unless_failed(const Result& otherwise, const Use& use);

  const Criterion criterion_;
  std::unique_ptr<State> state_;
  std::string failure_;
};

}  // namespace torch_ir
