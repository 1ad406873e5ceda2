// A second opinion: how far are an executor, and eager, from the same graph in float64?
//
// Called for outputs and for the values of nodes. A tolerance says whether two results agree, not
// which of them is wrong; hardware that adds in another order than eager differs from it, and may
// well be nearer to what the graph means. float64 has the digits to say so.
//
// The error of a tensor x is max |x - r| / max |r| over the elements that are finite in both, where
// r is the float64 one; 1 takes the place of max |r| where that is 0. Relative to the tensor and
// not to each element, as the bounds for sums and products are (Higham, Accuracy and Stability of
// Numerical Algorithms, 3.5): one element that cancels to almost 0 says nothing.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

struct SecondOpinion {
  double executor_error = 0;
  double eager_error = 0;
  // Elements that are NaN or infinite where the float64 one is not, or is another, and the other
  // way round.
  int64_t executor_non_finite = 0;
  int64_t eager_non_finite = 0;
  // How many times worse than eager: executor_error / eager_error, neither below what rounding to
  // the dtype alone may give, half a unit in the last place. Infinite where the executor has more
  // elements that are not finite than eager, 0 where it has fewer. 1 for two that are exact.
  double factor = 1;
  // Why float64 says nothing, one line; all else means nothing then. Empty where it does.
  std::string reason = {};

  bool operator==(const SecondOpinion&) const = default;
};

// Factors up to this, and down to its inverse, are as good as eager.
inline constexpr double kAsGoodAsEager = 2;

// "as good as eager", "worse than eager by a factor of 12", "eager is the inaccurate one, by a
// factor of 8", "no second opinion: ...".
std::string opinion_text(const SecondOpinion& opinion);

// Why an opinion does not let a value pass that may be `error_factor` times worse than eager, one
// line; empty where it does.
std::string opinion_problem(const SecondOpinion& opinion, double error_factor);

// How much less accurate than eager is still right where nothing else is said: results that add in
// another order than eager stay below it.
inline constexpr double kDefaultErrorFactor = 4;

// Of one value. `float64` has the shape of the others, or there is no opinion.
SecondOpinion second_opinion(const at::Tensor& executor, const at::Tensor& eager,
                             const at::Tensor& float64);

// Of each of IR::graph_outputs, by a run in float64. `weights` are found as in compile; neither
// they nor `inputs` are written to. Throws nothing. Undefined outputs have no opinion.
std::vector<SecondOpinion> second_opinions(const IR& ir, const StateDict& weights,
                                           const std::vector<at::Tensor>& inputs,
                                           const std::vector<at::Tensor>& executor,
                                           const std::vector<at::Tensor>& eager);

}  // namespace torch_ir
