#include <ATen/Parallel.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "torch_ir/runtime/kernels/clones.h"
#include "torch_ir/runtime/kernels/families.h"
#include "torch_ir/runtime/kernels/structured.h"
#include "torch_ir/runtime/threads/threads.h"

#define TORCH_IR_INLINE inline __attribute__((always_inline))

namespace torch_ir {

constexpr int64_t kLanes = 8;
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));

// ATen's maximum: the first of equal values (zeros may differ in sign), and the last NaN. It is
// associative, so a window can be folded row by row, but not commutative.
static TORCH_IR_INLINE void fold(float& maximum, float value) {
  maximum = ((value > maximum) | (value != value)) ? value : maximum;
}
static TORCH_IR_INLINE void fold(Lanes& maxima, const Lanes& values) {
  maxima = ((values > maxima) | (values != values)) ? values : maxima;
}

static TORCH_IR_INLINE void load(Lanes& lanes, const float* from) {
  std::memcpy(&lanes, from, sizeof(Lanes));
}
static TORCH_IR_INLINE void store(float* to, const Lanes& lanes) {
  std::memcpy(to, &lanes, sizeof(Lanes));
}

// Splits the 16 values at `from` into those at even and at odd positions.
static TORCH_IR_INLINE void load_pairs(Lanes& even, Lanes& odd, const float* from) {
  Lanes low;
  Lanes high;
  load(low, from);
  load(high, from + kLanes);
  even = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
  odd = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
}

// The functions below fold windows of one row of the image into `maxima`. All windows lie in the
// row: the first begins at `row`, each next one is two positions further, or one. The last block of
// eight overlaps the previous one, since folding a value twice changes nothing. The functions are
// not in the unnamed namespace, so that they can have clones.

// `window` is 2 or 3.
TORCH_IR_CLONES("avx2", "default")
void fold_windows_two_apart(const float* row, float* maxima, int64_t count, int64_t window) {
  for (int64_t i = 0; i < count && count >= kLanes; i += kLanes) {
    const int64_t first = std::min(i, count - kLanes);
    Lanes folded;
    Lanes even;
    Lanes odd;
    load(folded, maxima + first);
    load_pairs(even, odd, row + 2 * first);
    fold(folded, even);
    fold(folded, odd);
    if (window == 3) {
      load_pairs(even, odd, row + 2 * first + 1);
      fold(folded, odd);
    }
    store(maxima + first, folded);
  }
  for (int64_t i = 0; i < count && count < kLanes; ++i) {
    for (int64_t j = 0; j < window; ++j) fold(maxima[i], row[2 * i + j]);
  }
}

TORCH_IR_CLONES("avx2", "default")
void fold_windows_one_apart(const float* row, float* maxima, int64_t count, int64_t window,
                            int64_t dilation) {
  for (int64_t i = 0; i < count && count >= kLanes; i += kLanes) {
    const int64_t first = std::min(i, count - kLanes);
    Lanes folded;
    load(folded, maxima + first);
    for (int64_t j = 0; j < window; ++j) {
      Lanes values;
      load(values, row + first + j * dilation);
      fold(folded, values);
    }
    store(maxima + first, folded);
  }
  for (int64_t i = 0; i < count && count < kLanes; ++i) {
    for (int64_t j = 0; j < window; ++j) fold(maxima[i], row[i + j * dilation]);
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
  // Outputs [whole_begin, whole_end) need no padding.
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

  bool writes_unused() const override { return false; }

  void run() override {
    const auto* input = static_cast<const float*>(input_.const_data_ptr());
    auto* output = static_cast<float*>(output_.mutable_data_ptr());
    const int64_t rows = output_.numel() / width_.pooled;
    const int64_t row_work = width_.pooled * width_.window * height_.window;
    const int64_t grain = std::max<int64_t>(1, at::internal::GRAIN_SIZE / row_work);
    parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
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
    const bool is_short = width_.window == 2 || width_.window == 3;
    if (width_.stride == 2 && width_.dilation == 1 && is_short) {
      fold_windows_two_apart(whole, whole_maxima, count, width_.window);
    } else if (width_.stride == 1) {
      fold_windows_one_apart(whole, whole_maxima, count, width_.window, width_.dilation);
    } else {
      for (int64_t x = whole_begin_; x < whole_end_; ++x) fold_window(row, x, maxima);
    }
    for (int64_t x = whole_end_; x < width_.pooled; ++x) fold_window(row, x, maxima);
  }

  void fold_window(const float* row, int64_t output_column, float* maxima) const {
    const int64_t end = width_.end(output_column);
    for (int64_t x = width_.first(output_column); x < end; x += width_.dilation) {
      fold(maxima[output_column], row[x]);
    }
  }

  at::Tensor input_;
  at::Tensor output_;
  Axis height_;
  Axis width_;
  int64_t whole_begin_;
  int64_t whole_end_;
};

// One number applies to both dimensions; `missing` if there is none.
int64_t element(const std::vector<int64_t>& numbers, size_t dimension, int64_t missing) {
  if (numbers.empty()) return missing;
  return numbers[std::min(dimension, numbers.size() - 1)];
}

struct RunAvgPool2d {
  template <class Op, class Found>
  static void impl(Op& op, const Found& found, const at::Tensor& self,
                   at::IntArrayRef /*kernel_size*/, at::IntArrayRef /*stride*/,
                   at::IntArrayRef /*padding*/, bool ceil_mode, bool count_include_pad,
                   std::optional<int64_t> divisor_override) {
    op.impl(self, found.kH, found.kW, found.dH, found.dW, found.padH, found.padW, ceil_mode,
            count_include_pad, divisor_override, op.output(0));
  }
};

constexpr KernelEntry kPoolingKernels[] = {
    {"aten::_adaptive_avg_pool2d", kOutFunction<&at::native::adaptive_avg_pool2d_out_cpu>},
    {"aten::avg_pool2d", kStructured<at::native::structured_avg_pool2d_out_cpu, 1, RunAvgPool2d>},
    {"aten::max_pool2d_with_indices",
     kEither<&prepare_max_pool2d_values,
             kStructured<at::native::structured_max_pool2d_with_indices_out_cpu, 2>>},
};

}  // namespace

std::unique_ptr<PreparedKernel> prepare_max_pool2d_values(const KernelCall& call) {
  const at::Tensor& input = call.arguments[0].toTensor();
  const at::Tensor& output = call.outputs[0];
  const bool takes_call = !call.is_used[1] && input.scalar_type() == at::kFloat &&
                          output.scalar_type() == at::kFloat && input.device().is_cpu() &&
                          input.dim() >= 3 && !input.is_neg() && input.is_contiguous() &&
                          output.is_contiguous() && output.numel() > 0;
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

KernelTable pooling_kernels() { return kPoolingKernels; }

}  // namespace torch_ir
