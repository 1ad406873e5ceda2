#include "torch_ir/ir/strided_copy.h"

#include <ATen/ops/empty_strided.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/view_as_real.h>
#include <c10/util/strides.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/ir/tensor_text.h"

namespace torch_ir {
namespace {

// The number of elements from the first to the last; empty on overflow.
std::optional<int64_t> reach_of(at::IntArrayRef sizes, at::IntArrayRef strides) {
  int64_t reach = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t step = 0;
    if (sizes[i] == 0) return 0;
    if (__builtin_mul_overflow(strides[i], sizes[i] - 1, &step) ||
        __builtin_add_overflow(reach, step, &reach)) {
      return std::nullopt;
    }
  }
  return reach;
}

at::Tensor bytes_of(const at::Tensor& tensor) {
  return tensor.cpu().resolve_conj().resolve_neg().contiguous().flatten().view(c10::kByte);
}

}  // namespace

std::vector<int64_t> special_strides(const at::Tensor& tensor) {
  if (tensor.layout() != c10::kStrided || tensor.numel() == 0) return {};
  if (tensor.strides() == c10::contiguous_strides(tensor.sizes())) return {};
  return tensor.strides().vec();
}

void set_input_strides(Program& program, const std::vector<at::Tensor>& examples) {
  const auto reads = [](const std::string& guard) { return guard.find(".stride()") != guard.npos; };
  if (std::ranges::none_of(program.nodes, reads_storage) &&
      std::ranges::none_of(program.guards, reads)) {
    return;
  }
  const std::vector<ValueId> inputs = program.user_inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    Value& input = program[inputs[i]];
    if (!is_dynamic(input)) input.strides = special_strides(examples.at(i));
  }
}

at::Tensor strided_copy(const at::Tensor& tensor, at::IntArrayRef strides) {
  const auto fail = [&](const std::string& why) {
    throw Error(fmt::format("strides {} of a tensor of shape {}: {}", shape_list_text(strides),
                            shape_list_text(tensor.sizes()), why));
  };
  if (strides.size() != static_cast<size_t>(tensor.dim())) fail("expected one for each dimension");
  if (std::ranges::any_of(strides, [](int64_t stride) { return stride < 0; }))
    fail("negative stride");
  const std::optional<int64_t> reach = reach_of(tensor.sizes(), strides);
  if (!reach || *reach > std::max(tensor.numel(), kMaxStridedBytes / tensor.element_size())) {
    fail(fmt::format("they span more than the limit of {} bytes", kMaxStridedBytes));
  }
  const at::Tensor copy = at::empty_strided(tensor.sizes(), strides, tensor.options());
  // LibTorch refuses to write to elements that it knows to be the same.
  at::Tensor target = copy;
  at::Tensor source = tensor;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (strides[static_cast<size_t>(dim)] != 0 || tensor.size(dim) == 0) continue;
    target = target.narrow(dim, 0, 1);
    source = source.narrow(dim, 0, 1);
  }
  target.copy_(source);
  if (!copy.is_meta() && !copy.is_non_overlapping_and_dense() &&
      !at::equal(bytes_of(copy), bytes_of(tensor))) {
    fail("elements that share memory have different values");
  }
  return copy;
}

at::Tensor as_doubles(const at::Tensor& tensor) {
  return tensor.is_complex() ? at::view_as_real(tensor.to(at::kComplexDouble))
                             : tensor.to(at::kDouble);
}

bool same_elements(const at::Tensor& a, const at::Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  if (a.sizes() != b.sizes() || a.dtype() != b.dtype() || a.layout() != b.layout()) return false;
  if (a.is_meta() || b.is_meta()) return a.is_meta() && b.is_meta();
  if (a.layout() != c10::kStrided) return a.is_same(b);
  const bool is_one_view = a.const_data_ptr() == b.const_data_ptr() && a.strides() == b.strides() &&
                           a.is_conj() == b.is_conj() && a.is_neg() == b.is_neg();
  return is_one_view || at::equal(bytes_of(a), bytes_of(b));
}

}  // namespace torch_ir
