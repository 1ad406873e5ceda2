// Elementwise calls of quantised models in one pass: dequantize, add, clip or another function,
// quantize. Without a function, the bits are those of the calls one by one. Those of dynamically
// quantised models have a scale for each row.
#include <c10/core/DynamicCast.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "torch_ir/fast/quantized.h"
#include "torch_ir/fast/vectors.h"
#include "torch_ir/runtime/kernels/clones.h"
#include "torch_ir/runtime/threads/threads.h"

namespace torch_ir {
namespace {

using Vector = Vectors8::Vector;
using Numbers = Vectors8::Order;
using Shorts [[gnu::vector_size(16), gnu::aligned(2), gnu::may_alias]] = int16_t;
using Chars [[gnu::vector_size(8), gnu::aligned(1), gnu::may_alias]] = int8_t;
using Bytes [[gnu::vector_size(8), gnu::aligned(1), gnu::may_alias]] = uint8_t;
constexpr int64_t kVector = sizeof(Vector) / sizeof(float);

// Elements that are converted to floats at a time.
constexpr int64_t kBlock = 256;
using Block = std::array<float, kBlock>;

TORCH_IR_PART Vector& vector_at(float* data) { return *reinterpret_cast<Vector*>(data); }
TORCH_IR_PART const Vector& vector_at(const float* data) {
  return *reinterpret_cast<const Vector*>(data);
}

TORCH_IR_PART void clip(Vector& x, float low, float high) {
  x = x < low ? Vector{} + low : x;
  x = x > high ? Vector{} + high : x;
}

// GCC has instructions that convert vectors from a size to the next.
template <class Integers8>
TORCH_IR_PART void dequantize_all(const void* from, float zero_point, float scale, float* to) {
  for (int64_t i = 0; i < kBlock; i += kVector) {
    const auto& bytes = *reinterpret_cast<const Integers8*>(static_cast<const char*>(from) + i);
    const Numbers numbers =
        __builtin_convertvector(__builtin_convertvector(bytes, Shorts), Numbers);
    vector_at(to + i) = (__builtin_convertvector(numbers, Vector) - zero_point) * scale;
  }
}

}  // namespace

// Functions that the loader picks for the processor cannot be in an unnamed namespace.
TORCH_IR_CLONES("arch=x86-64-v4", "arch=x86-64-v3", "default")
void dequantize_block(const void* from, bool is_signed, float zero_point, float scale, float* to) {
  if (is_signed) {
    dequantize_all<Chars>(from, zero_point, scale, to);
  } else {
    dequantize_all<Bytes>(from, zero_point, scale, to);
  }
}

// Rounds to even, as eager does; NaN becomes 0.
TORCH_IR_CLONES("arch=x86-64-v4", "arch=x86-64-v3", "default")
void quantize_block(const float* from, const Steps& to_steps, void* to) {
  const Steps steps = to_steps;
  // Whatever rounds to more is clipped by the bounds of 8 bits.
  constexpr float kMost = 1 << 20;
  // Adding 3 * 2^22 rounds to an integer.
  constexpr float kRounder = 12582912.0F;
  for (int64_t i = 0; i < kBlock; i += kVector) {
    Vector x = vector_at(from + i) * steps.inverse_scale;
    clip(x, -kMost, kMost);
    x = ((x + kRounder) - kRounder) + steps.zero_point;
    clip(x, steps.low, steps.high);
    x = x == x ? x : Vector{};
    const Shorts shorts = __builtin_convertvector(__builtin_convertvector(x, Numbers), Shorts);
    *reinterpret_cast<Chars*>(static_cast<char*>(to) + i) = __builtin_convertvector(shorts, Chars);
  }
}

TORCH_IR_CLONES("arch=x86-64-v4", "arch=x86-64-v3", "default")
void add_and_clip_block(const float* other, float low, float high, float* to) {
  for (int64_t i = 0; i < kBlock; i += kVector) {
    Vector x = vector_at(to + i);
    if (other != nullptr) x += vector_at(other + i);
    clip(x, low, high);
    vector_at(to + i) = x;
  }
}

namespace {

size_t bytes_per_element(const Steps& steps) { return steps.is_float() ? sizeof(float) : 1; }

// Elements beyond `count` are anything.
void load(const void* from, const Steps& steps, int64_t count, Block& to) {
  const size_t bytes = static_cast<size_t>(count) * bytes_per_element(steps);
  if (steps.is_float()) {
    std::memcpy(to.data(), from, bytes);
    return;
  }
  std::array<char, kBlock> last{};
  if (count < kBlock) from = std::memcpy(last.data(), from, bytes);
  dequantize_block(from, steps.dtype == at::kChar, steps.zero_point, steps.scale, to.data());
}

void store(const Block& from, const Steps& steps, int64_t count, void* to) {
  const size_t bytes = static_cast<size_t>(count) * bytes_per_element(steps);
  if (steps.is_float()) {
    std::memcpy(to, from.data(), bytes);
  } else if (count == kBlock) {
    quantize_block(from.data(), steps, to);
  } else {
    std::array<char, kBlock> last;
    quantize_block(from.data(), steps, last.data());
    std::memcpy(to, last.data(), bytes);
  }
}

void rescale(const Rescaling& rescaling, const std::vector<void*>& memory, int64_t first,
             int64_t end) {
  const std::vector<Steps>& sources = rescaling.sources;
  const Clip& clip = rescaling.clip;
  const bool adds = sources.size() > 1;
  const bool clips = clip.low > -kInfinity || clip.high < kInfinity;
  Block values{};
  Block others{};
  const auto at = [&](size_t index, const Steps& steps, int64_t element) {
    return static_cast<char*>(memory[index]) +
           static_cast<size_t>(element) * bytes_per_element(steps);
  };
  for (int64_t i = first; i < end; i += kBlock) {
    const int64_t count = std::min(end - i, kBlock);
    load(at(0, sources[0], i), sources[0], count, values);
    if (adds) load(at(1, sources[1], i), sources[1], count, others);
    if (adds || clips) {
      add_and_clip_block(adds ? others.data() : nullptr, clip.low, clip.high, values.data());
    }
    if (rescaling.activation) apply(*rescaling.activation, values.data(), count);
    store(values, rescaling.output, count, at(sources.size(), rescaling.output, i));
  }
}

// One of `numbers`, of any dtype: the only one, or that of the row.
float number_at(const at::Tensor& numbers, int64_t row) {
  const int64_t at = numbers.numel() == 1 ? 0 : row;
  const auto* data = static_cast<const char*>(numbers.const_data_ptr());
  return c10::fetch_and_cast<float>(numbers.scalar_type(),
                                    data + static_cast<size_t>(at) * numbers.element_size());
}

}  // namespace

PrimitivePtr make_rescale(const Rescaling& rescaling, std::vector<Layout> sources,
                          const Layout& output) {
  const auto count = static_cast<int64_t>(output.bytes() / bytes_per_element(rescaling.output));
  const auto run = [rescaling, count](const std::vector<void*>& memory) {
    parallel_for(count, kElementsPerThread,
                 [&](int64_t first, int64_t end) { rescale(rescaling, memory, first, end); });
  };
  return onednn::make_own(
      rescaling.output.is_float() ? "torch_ir::dequantize" : "torch_ir::quantize",
      std::move(sources), output, run);
}

FusedCall quantize_rows(const Steps& to) {
  const auto run = [to](const CallTensors& inputs, const CallTensors& outputs) {
    const at::Tensor& scale = inputs[1];
    const at::Tensor& zero_point = inputs[2];
    const float* from = floats_of(inputs[0]);
    auto* into = static_cast<char*>(outputs[0].mutable_data_ptr());
    const int64_t count = inputs[0].numel();
    const int64_t size = count / std::max<int64_t>({scale.numel(), zero_point.numel(), 1});
    parallel_for(count, kElementsPerThread, [&](int64_t first, int64_t end) {
      Block values{};
      Steps steps = to;
      for (int64_t i = first; i < end;) {
        const int64_t row = i / size;
        steps.inverse_scale = number_at(scale, row);
        steps.zero_point = number_at(zero_point, row);
        const int64_t part = std::min({end - i, kBlock, (row + 1) * size - i});
        load(from + i, Steps(), part, values);
        store(values, steps, part, into + i);
        i += part;
      }
    });
  };
  return own_call("torch_ir::quantize", run);
}

// The numbers that sums of products of dynamically quantised integers stand for.
struct ScaledRow {
  int64_t columns;
  const int32_t* sums;
  int32_t zero_point;
  const int32_t* weight_sums;
  float scale;
  const float* scales;
  const float* bias;
  Clip clip;
  float* output;
};

TORCH_IR_CLONES("arch=x86-64-v4", "arch=x86-64-v3", "default")
void scale_row(const ScaledRow& row) {
  for (int64_t i = 0; i < row.columns; ++i) {
    const int32_t sum = row.sums[i] - row.zero_point * row.weight_sums[i];
    const float x = static_cast<float>(sum) * row.scale * row.scales[i] + row.bias[i];
    const float least = x < row.clip.low ? row.clip.low : x;
    row.output[i] = least > row.clip.high ? row.clip.high : least;
  }
}

FusedCall scale_rows(const Clip& clip, const std::optional<PostOp>& activation) {
  const auto run = [clip, activation](const CallTensors& inputs, const CallTensors& outputs) {
    const int64_t columns = inputs[3].numel();
    const auto* sums = static_cast<const int32_t*>(inputs[0].const_data_ptr());
    const auto* weight_sums = static_cast<const int32_t*>(inputs[3].const_data_ptr());
    auto* into = static_cast<float*>(outputs[0].mutable_data_ptr());
    parallel_for(outputs[0].numel() / columns, grain_of(columns), [&](int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i) {
        float* to = into + i * columns;
        const auto zero_point = static_cast<int32_t>(number_at(inputs[2], i));
        scale_row({columns, sums + i * columns, zero_point, weight_sums, number_at(inputs[1], i),
                   floats_of(inputs[4]), floats_of(inputs[5]), clip, to});
        if (activation) apply(*activation, to, columns);
      }
    });
  };
  return own_call("torch_ir::scale_rows", run);
}

}  // namespace torch_ir
