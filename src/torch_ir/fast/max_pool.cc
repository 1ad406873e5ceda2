#include <algorithm>
#include <cstdint>

#include "torch_ir/fast/rules.h"
#include "torch_ir/fast/vectors.h"
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

template <size_t kSize>
struct FewLanes {
  using Vector [[gnu::vector_size(4 * kSize), gnu::aligned(4), gnu::may_alias]] = float;
  using Order [[gnu::vector_size(4 * kSize), gnu::aligned(4), gnu::may_alias]] = int32_t;
};

struct PooledWindow {
  int64_t top;
  int64_t bottom;
  int64_t left;
  int64_t right;
  // The initial value of the maximum.
  float least;
};

template <class Vectors>
TORCH_IR_PART void pool_window(const PooledImages& images, const PooledWindow& window,
                               const float* pixels, float* result) {
  using Vector = typename Vectors::Vector;
  using Order = typename Vectors::Order;
  constexpr int32_t kInfinityBits = 0x7f800000;
  Vector most = Vector{} + window.least;
  // Negative in lanes that have met a NaN, whose bits exceed infinity's.
  Order room{};
  for (int64_t y = window.top; y < window.bottom; ++y) {
    const float* pixel = pixels + (y * images.width.size + window.left) * images.inner;
    for (int64_t x = window.left; x < window.right; ++x, pixel += images.inner) {
      const auto& channels = *reinterpret_cast<const Vector*>(pixel);
      room |= kInfinityBits - (reinterpret_cast<const Order&>(channels) & 0x7fffffff);
      most = most < channels ? channels : most;
    }
  }
  const Vector nan = Vector{} + std::numeric_limits<float>::quiet_NaN();
  *reinterpret_cast<Vector*>(result) = room < 0 ? nan : most;
}

// Pools channels from `i` on in whole vectors; returns the first channel left over.
template <class Vectors>
TORCH_IR_PART int64_t pool_channels(const PooledImages& images, const PooledWindow& window,
                                    const float* group, int64_t i, float* result) {
  constexpr int64_t kSize = sizeof(typename Vectors::Vector) / sizeof(float);
  for (; i + kSize <= images.inner; i += kSize) {
    pool_window<Vectors>(images, window, group + i, result + i);
  }
  return i;
}

// Rows are numbered across all groups.
template <class Vectors>
TORCH_IR_PART void pool_rows(const PooledImages& images, int64_t first_row, int64_t end_row) {
  const PooledAxis& height = images.height;
  const PooledAxis& width = images.width;
  for (int64_t row = first_row; row < end_row; ++row) {
    const int64_t y = row % height.pooled;
    const float* const group =
        images.input + row / height.pooled * height.size * width.size * images.inner;
    for (int64_t x = 0; x < width.pooled; ++x) {
      const bool reads_folded = height.reads_folded(y) || width.reads_folded(x);
      const PooledWindow window{std::max<int64_t>(height.begin(y), 0),
                                std::min(height.begin(y) + height.window, height.size),
                                std::max<int64_t>(width.begin(x), 0),
                                std::min(width.begin(x) + width.window, width.size),
                                reads_folded ? images.folded_value : -kInfinity};
      float* const result = images.output + (row * width.pooled + x) * images.inner;
      int64_t i = pool_channels<Vectors>(images, window, group, 0, result);
      i = pool_channels<Vectors8>(images, window, group, i, result);
      i = pool_channels<FewLanes<4>>(images, window, group, i, result);
      pool_channels<FewLanes<1>>(images, window, group, i, result);
    }
  }
}

TORCH_IR_EACH_WIDTH(void pool_maxima(const PooledImages& images, int64_t first_row,
                                     int64_t end_row),
                    pool_rows<Vectors>(images, first_row, end_row))

PrimitivePtr make_max_pool(const Layout& source, const Dims& sizes, const Window& window,
                           const Padding& padding) {
  const Dims& from = source.sizes();
  const auto block = source.block();
  if (!block && !(source == Layout::channels_last(from))) return nullptr;
  const Dims before = sum_of({0, 0}, padding.before);
  const Dims after = sum_of({0, 0}, padding.after);
  const auto axis = [&](size_t d) {
    return PooledAxis{
        from[d + 2], sizes[d + 2], window.kernel[d], window.strides[d], window.padding_before[d],
        before[d],   after[d]};
  };
  const int64_t inner = block.value_or(from[1]);
  // The last block may be partly padding, where oneDNN expects zeros; a positive value would fill
  // it.
  if (!(padding.value <= 0) && from[1] % inner != 0) return nullptr;
  const int64_t num_groups = from[0] * ((from[1] + inner - 1) / inner);
  const auto value = static_cast<float>(padding.value);
  PooledImages images{axis(0), axis(1), num_groups, inner, value, nullptr, nullptr};
  const auto run = [images](const std::vector<void*>& memory) mutable {
    images.input = static_cast<const float*>(memory[0]);
    images.output = static_cast<float*>(memory[1]);
    const int64_t row_work =
        images.width.pooled * images.width.window * images.height.window * images.inner;
    const int64_t rows = images.num_groups * images.height.pooled;
    parallel_for(rows, grain_of(row_work),
                 [&](int64_t begin, int64_t end) { pool_maxima(images, begin, end); });
  };
  return onednn::make_own("torch_ir::max_pool", {source},
                          block ? Layout::blocked(sizes, *block) : Layout::channels_last(sizes),
                          run);
}

}  // namespace torch_ir
