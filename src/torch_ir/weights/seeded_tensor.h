// Seeded values: weights and inputs of a model that are made up, the same everywhere.
//
// A value depends on the seed, the model's name, the tensor's name and the element's index, and on
// nothing else: not on the machine, the compiler, the version of LibTorch, or on what ran before.
// Element i of a tensor is splitmix64's output number i for a key hashed from the three; a range
// is a whole number of steps of 2^-20, so every value is made by integer arithmetic, exactly.
//
// Called by the harness, for the models that it verifies, and by `torch-ir benchmark`.
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

// With values of which activations neither vanish nor explode: matrices and kernels with variance
// 1 / fan-in, vectors called "weight" (scales of normalizations) around 1, all other vectors
// around 0.
ValueRange parameter_range(std::string_view name, at::IntArrayRef shape);

// Running means around 0, running variances around 1; nothing for other buffers.
std::optional<ValueRange> buffer_range(std::string_view name);

// The tensor `name` of the model `model`, uniform in `range`; whole numbers for integer dtypes.
// Throws Error for a range that is empty or beyond 1e12.
at::Tensor seeded_tensor(uint64_t seed, std::string_view model, std::string_view name,
                         at::IntArrayRef shape, at::ScalarType dtype, const ValueRange& range);

}  // namespace torch_ir
