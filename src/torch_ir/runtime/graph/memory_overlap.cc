#include "torch_ir/runtime/graph/memory_overlap.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

struct MemoryRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

// Kernels may choose by alignment, so copies keep that of the originals.
constexpr size_t kAlignment = 64;

bool has_memory(const at::Tensor& tensor) {
  return tensor.defined() && tensor.layout() == c10::kStrided && tensor.has_storage() &&
         !tensor.is_meta() && tensor.numel() > 0;
}

MemoryRange memory_range(const at::Tensor& tensor) {
  if (!has_memory(tensor)) return {};
  int64_t last = 0;
  for (int64_t i = 0; i < tensor.dim(); ++i) last += (tensor.size(i) - 1) * tensor.stride(i);
  const auto begin = reinterpret_cast<uintptr_t>(tensor.const_data_ptr());
  return {begin, begin + static_cast<size_t>(last + 1) * tensor.itemsize()};
}

at::Tensor bytes_of(const MemoryRange& range, const at::Tensor& owner) {
  return at::from_blob(reinterpret_cast<void*>(range.begin),
                       {static_cast<int64_t>(range.end - range.begin)},
                       owner.options().dtype(c10::kByte));
}

at::Tensor rebuild(const at::Tensor& original, const at::Tensor& storage, size_t offset) {
  if (offset % original.itemsize() != 0) {
    throw ExecutionError(
        "tensors that share memory are written in place, and one is not aligned to its dtype; "
        "give each its own copy");
  }
  at::Tensor copy = at::empty({0}, original.options());
  copy.set_(storage.storage(), static_cast<int64_t>(offset / original.itemsize()), original.sizes(),
            original.strides());
  if (original.is_conj()) copy._set_conj(true);
  if (original.is_neg()) copy._set_neg(true);
  return copy;
}

// Whether clone() keeps the layout: memory that it allocates is aligned.
bool is_copied_by_clone(const at::Tensor& tensor) {
  if (!has_memory(tensor)) return true;
  const size_t begin = memory_range(tensor).begin;
  return tensor.is_non_overlapping_and_dense() &&
         (begin % kAlignment == 0 || begin % tensor.itemsize() != 0);
}

}  // namespace

std::vector<size_t> overlap_groups(const std::vector<at::Tensor>& tensors) {
  std::vector<size_t> groups(tensors.size());
  std::iota(groups.begin(), groups.end(), 0);
  std::vector<MemoryRange> ranges;
  ranges.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) ranges.push_back(memory_range(tensor));
  std::vector<size_t> by_address(groups);
  std::sort(by_address.begin(), by_address.end(),
            [&](size_t a, size_t b) { return ranges[a].begin < ranges[b].begin; });
  size_t group = 0;
  uintptr_t group_end = 0;
  for (const size_t index : by_address) {
    if (ranges[index].begin == ranges[index].end) continue;
    if (ranges[index].begin >= group_end) group = index;
    groups[index] = group;
    group_end = std::max(group_end, ranges[index].end);
  }
  return groups;
}

std::vector<at::Tensor> copy_group(const std::vector<at::Tensor>& tensors) {
  if (tensors.size() == 1 && is_copied_by_clone(tensors.front())) return {tensors.front().clone()};
  MemoryRange whole = memory_range(tensors.front());
  for (const at::Tensor& tensor : tensors) {
    const MemoryRange range = memory_range(tensor);
    whole = {std::min(whole.begin, range.begin), std::max(whole.end, range.end)};
  }
  const size_t padding = whole.begin % kAlignment;
  const auto size = static_cast<int64_t>(whole.end - whole.begin);
  const at::Tensor bytes = at::empty({static_cast<int64_t>(padding) + size},
                                     tensors.front().options().dtype(c10::kByte));
  bytes.narrow(0, static_cast<int64_t>(padding), size).copy_(bytes_of(whole, tensors.front()));
  std::vector<at::Tensor> copies;
  for (const at::Tensor& tensor : tensors) {
    copies.push_back(rebuild(tensor, bytes, padding + memory_range(tensor).begin - whole.begin));
  }
  return copies;
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return false;
  const at::Tensor x = a.resolve_conj().resolve_neg().contiguous();
  const at::Tensor y = b.resolve_conj().resolve_neg().contiguous();
  return x.numel() == 0 || std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

}  // namespace torch_ir
