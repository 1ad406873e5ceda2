// Arithmetic: how an executor computes with float32 values, and the verdict on values in it.
//
// The executor rounds weights, inputs and the values of nodes to an arithmetic, and adds in
// float32. A right value is then not within a fixed tolerance, but about as far from float64 as the
// graph run eagerly with the same rounding (lanes.h).
//
// The limits were chosen by measuring right devices (docs/verdict.md).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "torch_ir/base/tolerance.h"

namespace torch_ir {

// How many times further from float64 than eager operators an output may be. Results that merely
// add in another order than eager stay below it.
inline constexpr double kErrorFactor = 4;

// kTf32 has the range of float32 and 10 bits of mantissa.
enum class Arithmetic { kFloat16, kBFloat16, kTf32 };

// "float16", "bfloat16", "tf32".
std::string_view arithmetic_name(Arithmetic arithmetic);

// Throws Error for an unknown name.
Arithmetic parse_arithmetic(std::string_view name);

// The greatest relative error of rounding to nearest: 2^-11 for float16.
double rounding_unit(Arithmetic arithmetic);

// That of rounding to `dtype`, by an executor that computes in `arithmetic` if the dtype is wide.
double rounding_unit(c10::ScalarType dtype, std::optional<Arithmetic> arithmetic = std::nullopt);

// Rounds float32, float64 and complex numbers to nearest, ties to even, in the dtype of the
// tensor. Returns a new tensor, or `tensor` itself for other dtypes.
at::Tensor round_to(Arithmetic arithmetic, const at::Tensor& tensor);

struct ErrorFigures {
  // The root of the mean square, and the greatest.
  double rms = 0;
  double max = 0;
  double mean = 0;
  // The slope of the error over the exact value: 0.01 for values that are 1 % too large.
  double slope = 0;
};

// The errors of a run and of the eager lane, over elements that are finite in both lanes.
struct ErrorComparison {
  int64_t num_compared = 0;
  // Elements in which the run alone is not finite, or is finite where the lanes are not.
  int64_t num_non_finite = 0;
  double value_rms = 0;
  double value_max = 0;
  ErrorFigures run = {};
  ErrorFigures eager = {};
};

// All three have the same shape.
ErrorComparison compare_errors(const at::Tensor& actual, const at::Tensor& eager,
                               const at::Tensor& exact);

// Infinite if there is no error.
double snr_of(double value_rms, double error_rms);

// The error of a value, in units: those of the eager lane, or of a rounding that is typical for the
// value, if that is greater.
struct OwnError {
  double rms_ratio = 0;
  double max_ratio = 0;
  // The systematic part, beyond the eager lane's: see ErrorFigures. The mean is relative to the RMS
  // of the value. 0 if chance explains it.
  double slope = 0;
  double mean = 0;
  double signal_to_noise = 0;
  // Why it is wrong, one line; empty if it is right.
  std::string problem = {};

  bool operator==(const OwnError&) const = default;
};

// The systematic part in words: "1 % too large"; empty if there is none.
std::string systematic_text(const OwnError& error);

// Elements of a value in steps that differ from eager's; indices count as off by more.
struct StepCounts {
  int64_t num_off_by_one = 0;
  int64_t num_off_by_more = 0;

  int64_t num_off() const { return num_off_by_one + num_off_by_more; }
};

// The least SNR of a right value, in dB: its error is at most half of the value.
inline constexpr double kLeastSignalToNoise = 6;

// By what limits an error is judged.
struct ErrorKind {
  // The greatest relative error of rounding the value.
  double unit = 0;
  // The size of the steps in which the value was returned, 0 if it was not quantised.
  double step = 0;
  // Its sums are rounded to the same unit, so that another order of adding makes several roundings,
  // also systematic ones.
  bool adds_in_unit = false;
  // The error of all nodes before an output, not of a node or group alone.
  bool is_accumulated = false;
};

// Judges a value by its error, and the eager lane's.
OwnError judge_error(const ErrorComparison& errors, const ErrorKind& kind);

// Elements that are not within `tolerance` of the eager lane's, and further from the exact lane's
// than those of the eager lane that have about their size, or are smaller. One line on the first;
// empty if there is none. The largest elements of a tensor would otherwise set the limit of all.
std::string unexplained_elements(const at::Tensor& actual, const at::Tensor& eager,
                                 const at::Tensor& exact, const ErrorKind& kind,
                                 const Tolerance& tolerance);

}  // namespace torch_ir
