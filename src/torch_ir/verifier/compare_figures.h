// ComparisonFigures: gathers what compare_tensors says of two tensors, a block of elements at a
// time, in row-major order.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <complex>
#include <cstdint>
#include <variant>

#include "torch_ir/verifier/compare.h"

namespace torch_ir {

class ComparisonFigures {
 public:
  // `dtype` is that of both tensors.
  ComparisonFigures(const Tolerance& tolerance, c10::ScalarType dtype)
      : tolerance_(tolerance), dtype_(dtype) {}

  // Adds the elements from position `first` on; both blocks are contiguous, on the CPU.
  void add(const at::Tensor& actual, const at::Tensor& expected, int64_t first);

  // Sets the figures of `result`, whose shape is that of the tensors.
  void finish(TensorComparison& result) const;

 private:
  using Element = std::variant<double, std::complex<double>, int64_t, uint64_t>;

  // Sums of products, over elements that are finite on both sides.
  struct Products {
    double actual = 0;
    double expected = 0;
    double mixed = 0;
  };

  // What is updated by each element that is not equal.
  struct Extremes {
    double max_diff = 0;
    double max_relative_diff = 0;
    double required_tolerance = 0;
    uint64_t max_ulp_diff = 0;
    // Whether elements differ that are not finite on both sides.
    bool differs_in_non_finite = false;
    int64_t num_mismatched = 0;
    // Position of the worst element; negative while all were equal.
    int64_t worst = -1;
    // 2 for NaN, 1 for infinite differences, 0 for others.
    int worst_rank = 0;
    double worst_excess = 0;

    // Adds two elements at `index` that are not equal; `size` is that of the expected one.
    void add(double difference, double size, const Tolerance& tolerance, int64_t index);
  };

  // `Bits` are the elements in their own dtype, where distances in them are asked for.
  template <class T, class Bits>
  void add_elements(const T* actual, const T* expected, const Bits* actual_bits,
                    const Bits* expected_bits, int64_t size, int64_t first);
  template <class T>
  void add_elements(const at::Tensor& actual, const at::Tensor& expected, int64_t first);
  template <class Bits>
  void add_floats(const at::Tensor& actual, const at::Tensor& expected, int64_t first);
  template <class T>
  static Products multiply(const T* actual, const T* expected, int64_t size);

  double cosine_similarity() const;
  double signal_to_noise() const;

  const Tolerance tolerance_;
  const c10::ScalarType dtype_;
  double sum_ = 0;
  double sum_of_squares_ = 0;
  Products products_;
  std::array<int64_t, kHistogramBins> histogram_ = {};
  Extremes extremes_;
  Element worst_actual_;
  Element worst_expected_;
};

}  // namespace torch_ir
