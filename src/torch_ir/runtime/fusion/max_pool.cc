#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "torch_ir/runtime/fusion/rules.h"
#include "torch_ir/runtime/fusion/vectors.h"
#include "torch_ir/runtime/kernels/clones.h"
#include "torch_ir/runtime/threads/threads.h"

namespace torch_ir {

// The windows along one spatial dimension. Outside the image there is first the folded padding,
// whose value counts, and then nothing.
struct PooledAxis {
  int64_t size;
  int64_t pooled;
  int64_t window;
  int64_t stride;
  int64_t padding;
  int64_t folded_before;
  int64_t folded_after;

  int64_t begin(int64_t output) const { return output * stride - padding; }
  bool reads_folded(int64_t output) const {
    const int64_t first = begin(output);
    const int64_t end = first + window;
    return (first < 0 && end > -folded_before && folded_before > 0) ||
           (end > size && first < size + folded_after && folded_after > 0);
  }
};

// Channels are in groups; the `inner` channels of a group are contiguous for each pixel.
struct PooledImages {
  PooledAxis height;
  PooledAxis width;
  int64_t num_groups;
  int64_t inner;
  float folded_value;
  const float* input;
  float* output;
};

// Vectors of eight, as GCC splits comparisons that are wider than the processor's vectors.
struct Vectors1 {
  using Vector [[gnu::vector_size(4), gnu::may_alias]] = float;
  using Order [[gnu::vector_size(4), gnu::may_alias]] = int32_t;
};

// `kCount` vectors of channels, as a maximum waits for the one before it.
template <class Vectors, int64_t kCount>
TORCH_IR_PART void pool_window(const PooledImages& images, const float* pixels, int64_t top,
                               int64_t bottom, int64_t left, int64_t right, float least,
                               float* result) {
  using Vector = typename Vectors::Vector;
  using Order = typename Vectors::Order;
  constexpr int64_t kSize = sizeof(Vector) / sizeof(float);
  constexpr int32_t kInfinity = 0x7f800000;
  Vector most[kCount];
  // Negative where a number had more bits than infinity: NaN.
  Order room[kCount] = {};
  for (int64_t i = 0; i < kCount; ++i) most[i] = Vector{} + least;
  for (int64_t y = top; y < bottom; ++y) {
    const float* pixel = pixels + (y * images.width.size + left) * images.inner;
    for (int64_t x = left; x < right; ++x, pixel += images.inner) {
      for (int64_t i = 0; i < kCount; ++i) {
        const auto& channels = *reinterpret_cast<const Vector*>(pixel + i * kSize);
        room[i] |= kInfinity - (reinterpret_cast<const Order&>(channels) & 0x7fffffff);
        most[i] = most[i] < channels ? channels : most[i];
      }
    }
  }
  const Vector nan = Vector{} + std::numeric_limits<float>::quiet_NaN();
  for (int64_t i = 0; i < kCount; ++i) {
    *reinterpret_cast<Vector*>(result + i * kSize) = room[i] < 0 ? nan : most[i];
  }
}

// Rows of all groups, counted through.
TORCH_IR_CLONES("arch=x86-64-v4", "arch=x86-64-v3", "default")
void pool_maxima(const PooledImages& images, int64_t first_row, int64_t end_row) {
  const PooledAxis& height = images.height;
  const PooledAxis& width = images.width;
  constexpr float kNothing = -std::numeric_limits<float>::infinity();
  for (int64_t row = first_row; row < end_row; ++row) {
    const int64_t y = row % height.pooled;
    const float* const group =
        images.input + row / height.pooled * height.size * width.size * images.inner;
    const int64_t top = std::max<int64_t>(height.begin(y), 0);
    const int64_t bottom = std::min(height.begin(y) + height.window, height.size);
    for (int64_t x = 0; x < width.pooled; ++x) {
      const int64_t left = std::max<int64_t>(width.begin(x), 0);
      const int64_t right = std::min(width.begin(x) + width.window, width.size);
      const bool reads_folded = height.reads_folded(y) || width.reads_folded(x);
      const float least = reads_folded ? images.folded_value : kNothing;
      float* const result = images.output + (row * width.pooled + x) * images.inner;
      int64_t i = 0;
      for (; i + 16 <= images.inner; i += 16) {
        pool_window<Vectors8, 2>(images, group + i, top, bottom, left, right, least, result + i);
      }
      for (; i + 8 <= images.inner; i += 8) {
        pool_window<Vectors8, 1>(images, group + i, top, bottom, left, right, least, result + i);
      }
      for (; i < images.inner; ++i) {
        pool_window<Vectors1, 1>(images, group + i, top, bottom, left, right, least, result + i);
      }
    }
  }
}

namespace {

using onednn::Dims;
using onednn::Layout;

class MaxPoolExecution final : public onednn::Execution {
 public:
  explicit MaxPoolExecution(const PooledImages& images) : images_(images) {}

  void set(size_t index, void* data) override {
    if (index == 0) images_.input = static_cast<const float*>(data);
    if (index == 1) images_.output = static_cast<float*>(data);
  }

  void run() override {
    constexpr int64_t kElementsPerThread = 1 << 16;
    const int64_t row_work =
        images_.width.pooled * images_.width.window * images_.height.window * images_.inner;
    const int64_t rows = images_.num_groups * images_.height.pooled;
    parallel_for(rows, std::max<int64_t>(kElementsPerThread / row_work, 1),
                 [this](int64_t begin, int64_t end) { pool_maxima(images_, begin, end); });
  }

 private:
  PooledImages images_;
};

class MaxPool final : public onednn::Primitive {
 public:
  MaxPool(const PooledImages& images, const Layout& source, Layout output) : images_(images) {
    name_ = "torch_ir::max_pool";
    inputs_ = {source};
    output_ = std::move(output);
  }
  std::unique_ptr<onednn::Execution> bind() const override {
    return std::make_unique<MaxPoolExecution>(images_);
  }

 private:
  PooledImages images_;
};

}  // namespace

onednn::PrimitivePtr make_max_pool(const Layout& source, const Dims& sizes,
                                   const onednn::Window& window, const Padding& padding) {
  const Dims& from = source.sizes();
  const auto block = source.block();
  if (!block && !(source == Layout::channels_last(from))) return nullptr;
  const auto axis = [&](size_t d) {
    const bool is_folded = !padding.before.empty();
    return PooledAxis{from[d + 2],
                      sizes[d + 2],
                      window.kernel[d],
                      window.strides[d],
                      window.padding_before[d],
                      is_folded ? padding.before[d] : 0,
                      is_folded ? padding.after[d] : 0};
  };
  // The last block may be partly padding.
  const int64_t inner = block.value_or(from[1]);
  const PooledImages images{axis(0),
                            axis(1),
                            from[0] * ((from[1] + inner - 1) / inner),
                            inner,
                            static_cast<float>(padding.value),
                            nullptr,
                            nullptr};
  return std::make_shared<MaxPool>(
      images, source, block ? Layout::blocked(sizes, *block) : Layout::channels_last(sizes));
}

}  // namespace torch_ir
