// A second opinion: compares the run to judge, and eager, with the same graph in float64. The run
// is our runtime's, a backend's or an executor's; its figures have the names of results.json.
//
// A tolerance tells whether two results agree, not which of them is wrong. Hardware that adds in
// another order than eager differs from it and may be more accurate; float64 has enough digits to
// decide.
//
// The error of a tensor x is max |x - r| / max |r| over the elements that are finite in both, where
// r is the float64 tensor; 1 replaces a max |r| of 0. It is relative to the tensor, like the bounds
// for sums and products (Higham, Accuracy and Stability of Numerical Algorithms, 3.5): one element
// that cancels to almost 0 says nothing.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "torch_ir/runtime/graph/case.h"

namespace torch_ir {

struct SecondOpinion {
  double executor_error = 0;
  double eager_error = 0;
  // Elements that differ from float64 where either is NaN or infinite.
  int64_t executor_non_finite = 0;
  int64_t eager_non_finite = 0;
  // executor_error / eager_error, with neither below the error of rounding to the dtype, half a
  // unit in the last place; four times that in fewer than 64 elements of float32 or float64, whose
  // sums may be exact by chance. Infinite if the run has more non-finite elements than eager, 0 if
  // it has fewer. 1 if both are exact.
  double factor = 1;
  // Why there is no opinion, one line; the other members are then meaningless. Empty if there is
  // one.
  std::string reason = {};

  bool operator==(const SecondOpinion&) const = default;
};

// Factors up to this, and down to its inverse, are as good as eager.
inline constexpr double kAsGoodAsEager = 2;

// "as good as eager", "worse than eager by a factor of 12", "eager is the inaccurate one, by a
// factor of 8", "no second opinion: ...".
std::string opinion_text(const SecondOpinion& opinion);

// Why an opinion rejects a value that may be `error_factor` times worse than eager, one line; empty
// if it passes.
std::string opinion_problem(const SecondOpinion& opinion, double error_factor);

// The default error factor: results that merely add in another order than eager stay below it.
inline constexpr double kDefaultErrorFactor = 4;

// `float64` must have the shape of the others for an opinion.
SecondOpinion second_opinion(const at::Tensor& output, const at::Tensor& eager,
                             const at::Tensor& float64);

// Gives an opinion of each output of the graph by a run in float64. Never throws. Undefined outputs
// have no opinion.
std::vector<SecondOpinion> second_opinions(const Case& graph_case,
                                           const std::vector<at::Tensor>& outputs,
                                           const std::vector<at::Tensor>& eager);

}  // namespace torch_ir
