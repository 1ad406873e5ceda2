#include "torch_ir/cases/strided_copy.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty_strided.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"

namespace torch_ir {

namespace {

// From the first byte to the last.
bool reaches_too_far(const at::Tensor& tensor, at::IntArrayRef strides) {
  if (tensor.numel() == 0) return false;
  int64_t elements = 1;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    int64_t step = 0;
    if (__builtin_mul_overflow(strides[static_cast<size_t>(dim)], tensor.size(dim) - 1, &step) ||
        __builtin_add_overflow(elements, step, &elements)) {
      return true;
    }
  }
  return elements > kMaxStridedBytes / tensor.element_size();
}

}  // namespace

at::Tensor strided_copy(const at::Tensor& tensor, at::IntArrayRef strides) {
  const auto fail = [&](const std::string& why) {
    throw Error(fmt::format("strides [{}] of a tensor of shape [{}]: {}", fmt::join(strides, ", "),
                            fmt::join(tensor.sizes(), ", "), why));
  };
  if (strides.size() != static_cast<size_t>(tensor.dim())) fail("there is one for each dimension");
  if (std::ranges::any_of(strides, [](int64_t stride) { return stride < 0; }))
    fail("one is below 0");
  if (reaches_too_far(tensor, strides)) {
    fail(fmt::format("they reach over more than {} bytes, the limit", kMaxStridedBytes));
  }
  at::Tensor once = tensor;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    const bool repeats = strides[static_cast<size_t>(dim)] == 0 && once.size(dim) > 1;
    if (repeats) once = once.narrow(dim, 0, 1);
  }
  const at::Tensor copy = at::empty_strided(once.sizes(), strides, tensor.options());
  if (at::has_internal_overlap(copy) == at::MemOverlap::Yes) fail("elements would share memory");
  copy.copy_(once);
  return copy.expand(tensor.sizes());
}

}  // namespace torch_ir
