// Generates reproducible weights and inputs from a seed.
//
// A value depends only on the seed, the model's name, the tensor's name and the element's index,
// not on the machine, the compiler or the version of LibTorch. Element i is output i of splitmix64
// for a key hashed from the other three; a range is a whole number of steps of 2^-20, so integer
// arithmetic makes every value exactly.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace torch_ir {

// [low, high).
struct ValueRange {
  double low;
  double high;
};

// A range that keeps activations from vanishing or exploding: matrices and kernels have variance 1
// / fan-in, vectors called "weight" (scales of normalizations) are around 1, other vectors around
// 0.
ValueRange parameter_range(std::string_view name, at::IntArrayRef shape);

// Running means are around 0, running variances around 1; empty for other buffers.
std::optional<ValueRange> buffer_range(std::string_view name);

// The tensor `name` of the model `model`, uniform in `range`; whole numbers for integer dtypes.
// Throws Error for a range that is empty or beyond 1e12.
at::Tensor seeded_tensor(uint64_t seed, std::string_view model, std::string_view name,
                         at::IntArrayRef shape, at::ScalarType dtype, const ValueRange& range);

}  // namespace torch_ir
