// Vectors of 16 floats and the gates of recurrent layers, shared by the kernels of this room.
#pragma once

#include <algorithm>
#include <cstdint>

#include "torch_ir/runtime/kernels/clones.h"

// A vector function must be inlined into callers that are compiled for several processors.
#define TORCH_IR_PART inline __attribute__((always_inline))

// Defines a function that does `...` with `Vectors` as wide as the processor's: GCC splits
// comparisons of wider ones, and may spill them to memory.
#define TORCH_IR_VECTORS(signature, width, ...) \
  signature {                                   \
    using Vectors = Vectors##width;             \
    __VA_ARGS__;                                \
  }
#ifdef TORCH_IR_HAS_CLONES
#define TORCH_IR_EACH_WIDTH(signature, ...)                                         \
  [[gnu::target("arch=x86-64-v4")]] TORCH_IR_VECTORS(signature, 16, __VA_ARGS__)    \
      [[gnu::target("arch=x86-64-v3")]] TORCH_IR_VECTORS(signature, 8, __VA_ARGS__) \
          [[gnu::target("default")]] TORCH_IR_VECTORS(signature, 8, __VA_ARGS__)
#else
#define TORCH_IR_EACH_WIDTH(signature, ...) TORCH_IR_VECTORS(signature, 8, __VA_ARGS__)
#endif

namespace torch_ir {

constexpr int64_t kLanes = 16;

// Fewer are done before another thread has begun.
constexpr int64_t kElementsPerThread = 1 << 15;
// Of rows of so many elements.
inline int64_t grain_of(int64_t size) { return std::max<int64_t>(kElementsPerThread / size, 1); }

using Floats [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = float;
using Integers [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = int32_t;

// For kernels with a version for each width: as arguments of templates the types themselves would
// lose their alignment.
struct Vectors8 {
  using Vector [[gnu::vector_size(32), gnu::aligned(4), gnu::may_alias]] = float;
  using Order [[gnu::vector_size(32), gnu::aligned(4), gnu::may_alias]] = int32_t;
  static constexpr Order kOrder = {0, 1, 2, 3, 4, 5, 6, 7};
};
struct Vectors16 {
  using Vector = Floats;
  using Order = Integers;
  static constexpr Order kOrder = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
};

// Vectors are passed by reference, as passing them by value depends on the processor.

// x = e^x for x clipped to [-87, 87]: 2^n e^r, with the polynomial of the Cephes library (expf).
template <class Vectors = Vectors16>
TORCH_IR_PART void exponentiate(typename Vectors::Vector& x) {
  using Vector = typename Vectors::Vector;
  using Order = typename Vectors::Order;
  const Vector least = Vector{} - 87.0F;
  const Vector most = Vector{} + 87.0F;
  x = x < least ? least : x;
  x = x > most ? most : x;
  // Adding 3 * 2^22 rounds to an integer, which is then in the low bits.
  Vector shifted = x * 1.44269504F + 12582912.0F;
  const Order exponent = (reinterpret_cast<Order&>(shifted) << 23) + (127 << 23);
  const Vector n = shifted - 12582912.0F;
  const Vector r = x - n * 0.693359375F + n * 2.12194440e-4F;
  Vector p = r * 1.9875691500e-4F + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  x = (p * r * r + r + 1.0F) * reinterpret_cast<const Vector&>(exponent);
}

TORCH_IR_PART void apply_sigmoid(Floats& x) {
  x = -x;
  exponentiate(x);
  x = 1.0F / (x + 1.0F);
}

TORCH_IR_PART void apply_tanh(Floats& x) {
  x = x * 2.0F;
  apply_sigmoid(x);
  x = x * 2.0F - 1.0F;
}

TORCH_IR_PART Floats& lanes(float* data) { return *reinterpret_cast<Floats*>(data); }
TORCH_IR_PART const Floats& lanes(const float* data) {
  return *reinterpret_cast<const Floats*>(data);
}

}  // namespace torch_ir
