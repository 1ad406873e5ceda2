// Tensors as memory: finding those that share it, copying them so that the copies share it too, and
// comparing their bits.
//
// The first two are used where a graph writes in place to what it does not own (weights, constants,
// inputs): the run gets copies that behave towards one another as the originals do, tied weights
// and views included.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <vector>

namespace torch_ir {

// A number for each of `tensors`, the same for those whose memory overlaps, directly or through
// others. Judged by address, since tensors of one mapped file need not share a storage.
std::vector<size_t> overlap_groups(const std::vector<at::Tensor>& tensors);

// Copies of the `tensors` of one group, with their strides, laid out as the originals are. Throws
// ExecutionError when an address is not aligned to its dtype and the group has several members.
std::vector<at::Tensor> copy_group(const std::vector<at::Tensor>& tensors);

// Whether shape, dtype and every bit of every element are equal.
bool same_bits(const at::Tensor& a, const at::Tensor& b);

}  // namespace torch_ir
