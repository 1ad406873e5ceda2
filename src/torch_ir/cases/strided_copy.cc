#include "torch_ir/cases/strided_copy.h"

#include <ATen/ops/empty_strided.h>
#include <c10/util/accumulate.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"

namespace torch_ir {

namespace {

// The reach of strides, and whether elements overlap. Both are computed from the smallest stride
// up: each larger step must begin after everything that the smaller ones reach.
struct Layout {
  bool overlaps = false;
  // Elements from the first to the last; empty on overflow.
  std::optional<int64_t> reach = 1;
};

Layout layout_of(at::IntArrayRef sizes, at::IntArrayRef strides) {
  Layout layout;
  if (c10::multiply_integers(sizes) == 0) return layout;
  std::vector<std::pair<int64_t, int64_t>> steps;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 1) steps.emplace_back(strides[i], sizes[i]);
  }
  std::ranges::sort(steps);
  for (const auto& [stride, size] : steps) {
    int64_t step = 0;
    if (stride < *layout.reach) layout.overlaps = true;
    if (__builtin_mul_overflow(stride, size - 1, &step) ||
        __builtin_add_overflow(*layout.reach, step, &*layout.reach)) {
      layout.reach.reset();
      break;
    }
  }
  return layout;
}

}  // namespace

at::Tensor strided_copy(const at::Tensor& tensor, at::IntArrayRef strides) {
  const auto fail = [&](const std::string& why) {
    throw Error(fmt::format("strides [{}] of a tensor of shape [{}]: {}", fmt::join(strides, ", "),
                            fmt::join(tensor.sizes(), ", "), why));
  };
  if (strides.size() != static_cast<size_t>(tensor.dim())) fail("expected one for each dimension");
  if (std::ranges::any_of(strides, [](int64_t stride) { return stride < 0; }))
    fail("negative stride");
  at::Tensor once = tensor;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    const bool repeats = strides[static_cast<size_t>(dim)] == 0 && once.size(dim) > 1;
    if (repeats) once = once.narrow(dim, 0, 1);
  }
  const Layout layout = layout_of(once.sizes(), strides);
  if (!layout.reach || *layout.reach > kMaxStridedBytes / tensor.element_size()) {
    fail(fmt::format("they span more than the limit of {} bytes", kMaxStridedBytes));
  }
  if (layout.overlaps) fail("elements interleave or share memory");
  const at::Tensor copy = at::empty_strided(once.sizes(), strides, tensor.options());
  copy.copy_(once);
  return copy.expand(tensor.sizes());
}

}  // namespace torch_ir
