#include "torch_ir/executor/kernels/max_pool.h"

#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>

#include <algorithm>
#include <limits>

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
#define TORCH_IR_VECTOR_CLONES \
  __attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3")))
#else
#define TORCH_IR_VECTOR_CLONES
#endif

namespace torch_ir {

// ATen's maximum: the first of equal values (which may be zeros of either sign), and the last NaN.
// It is associative, so a window can be folded row by row; it is not commutative.
static inline float later_maximum(float maximum, float value) {
  return ((value > maximum) | (value != value)) ? value : maximum;
}

// Folds windows of one row of the image into `maxima`. The windows lie in the row entirely.
// Outside of the unnamed namespace, as clones of functions have to be.
TORCH_IR_VECTOR_CLONES
void fold_pairs(const float* __restrict row, float* __restrict maxima, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    maxima[i] = later_maximum(maxima[i], later_maximum(row[2 * i], row[2 * i + 1]));
  }
}

TORCH_IR_VECTOR_CLONES
void fold_triples(const float* __restrict row, float* __restrict maxima, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const float pair = later_maximum(row[2 * i], row[2 * i + 1]);
    maxima[i] = later_maximum(maxima[i], later_maximum(pair, row[2 * i + 2]));
  }
}

TORCH_IR_VECTOR_CLONES
void fold_unit_steps(const float* __restrict row, float* __restrict maxima, int64_t count, int64_t window,
                     int64_t dilation) {
  for (int64_t j = 0; j < window; ++j) {
    const float* shifted = row + j * dilation;
    for (int64_t i = 0; i < count; ++i) maxima[i] = later_maximum(maxima[i], shifted[i]);
  }
}

namespace {

struct Axis {
  int64_t window;
  int64_t stride;
  int64_t padding;
  int64_t dilation;
  int64_t size;
  int64_t pooled;

  int64_t first(int64_t output) const {
    const int64_t begin = output * stride - padding;
    return begin >= 0 ? begin : begin + (-begin + dilation - 1) / dilation * dilation;
  }
  int64_t end(int64_t output) const {
    return std::min(output * stride - padding + (window - 1) * dilation + 1, size);
  }
  // The outputs whose windows need no padding: [whole_begin, whole_end).
  int64_t whole_begin() const { return std::min((padding + stride - 1) / stride, pooled); }
  int64_t whole_end() const {
    const int64_t room = size - 1 - (window - 1) * dilation + padding;
    const int64_t end = room < 0 ? 0 : std::min(room / stride + 1, pooled);
    return std::max(end, whole_begin());
  }
};

class MaxPool2dValues final : public PreparedKernel {
 public:
  MaxPool2dValues(const at::Tensor& input, const at::Tensor& output, const Axis& height,
                  const Axis& width)
      : input_(input),
        output_(output),
        height_(height),
        width_(width),
        whole_begin_(width.whole_begin()),
        whole_end_(width.whole_end()) {}

  void run() override {
    const auto* input = static_cast<const float*>(input_.const_data_ptr());
    auto* output = static_cast<float*>(output_.mutable_data_ptr());
    const int64_t rows = output_.numel() / width_.pooled;
    const int64_t row_work = width_.pooled * width_.window * height_.window;
    const int64_t grain = std::max<int64_t>(1, at::internal::GRAIN_SIZE / row_work);
    at::parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const float* plane = input + row / height_.pooled * height_.size * width_.size;
        pool_row(plane, row % height_.pooled, output + row * width_.pooled);
      }
    });
  }

 private:
  void pool_row(const float* plane, int64_t output_row, float* maxima) const {
    std::fill_n(maxima, width_.pooled, -std::numeric_limits<float>::infinity());
    const int64_t end = height_.end(output_row);
    for (int64_t y = height_.first(output_row); y < end; y += height_.dilation) {
      fold_row(plane + y * width_.size, maxima);
    }
  }

  void fold_row(const float* row, float* maxima) const {
    for (int64_t x = 0; x < whole_begin_; ++x) fold_window(row, x, maxima);
    const int64_t count = whole_end_ - whole_begin_;
    const float* whole = row + whole_begin_ * width_.stride - width_.padding;
    float* whole_maxima = maxima + whole_begin_;
    if (width_.stride == 2 && width_.window == 2 && width_.dilation == 1) {
      fold_pairs(whole, whole_maxima, count);
    } else if (width_.stride == 2 && width_.window == 3 && width_.dilation == 1) {
      fold_triples(whole, whole_maxima, count);
    } else if (width_.stride == 1) {
      fold_unit_steps(whole, whole_maxima, count, width_.window, width_.dilation);
    } else {
      for (int64_t x = whole_begin_; x < whole_end_; ++x) fold_window(row, x, maxima);
    }
    for (int64_t x = whole_end_; x < width_.pooled; ++x) fold_window(row, x, maxima);
  }

  void fold_window(const float* row, int64_t output_column, float* maxima) const {
    float maximum = maxima[output_column];
    const int64_t end = width_.end(output_column);
    for (int64_t x = width_.first(output_column); x < end; x += width_.dilation) {
      maximum = later_maximum(maximum, row[x]);
    }
    maxima[output_column] = maximum;
  }

  at::Tensor input_;
  at::Tensor output_;
  Axis height_;
  Axis width_;
  int64_t whole_begin_;
  int64_t whole_end_;
};

// One number for both dimensions, or one for each; `missing` where there is none.
int64_t element(const std::vector<int64_t>& numbers, size_t dimension, int64_t missing) {
  if (numbers.empty()) return missing;
  return numbers[std::min(dimension, numbers.size() - 1)];
}

}  // namespace

std::unique_ptr<PreparedKernel> prepare_max_pool2d_values(const KernelCall& call) {
  const at::Tensor& input = call.arguments[0].toTensor();
  const at::Tensor& output = call.outputs[0];
  const bool takes_call = input.scalar_type() == at::kFloat && output.scalar_type() == at::kFloat &&
                          input.device().is_cpu() && input.dim() >= 3 && !input.is_neg() &&
                          input.is_contiguous() && output.is_contiguous() && output.numel() > 0;
  if (!takes_call) return nullptr;
  const auto axis = [&](size_t dimension) {
    const int64_t window = element(call.arguments[1].toIntVector(), dimension, 1);
    const auto position = static_cast<int64_t>(dimension) - 2;
    return Axis{window,
                element(call.arguments[2].toIntVector(), dimension, window),
                element(call.arguments[3].toIntVector(), dimension, 0),
                element(call.arguments[4].toIntVector(), dimension, 1),
                input.size(position),
                output.size(position)};
  };
  return std::make_unique<MaxPool2dValues>(input, output, axis(0), axis(1));
}

}  // namespace torch_ir
