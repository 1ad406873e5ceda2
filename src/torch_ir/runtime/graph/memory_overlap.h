// Finds tensors that share memory, copies them so that the copies share it too, and compares bits.
//
// A graph that writes in place to weights, constants or inputs runs on copies that alias each other
// as the originals do, tied weights and views included.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <vector>

namespace torch_ir {

// A number for each tensor, equal for those whose memory overlaps, directly or through others.
// Compares addresses, since tensors of one mapped file may have different storages.
std::vector<size_t> overlap_groups(const std::vector<at::Tensor>& tensors);

// Copies the tensors of one group, strides included. Throws ExecutionError if the group has several
// members and an address is not aligned to its dtype.
std::vector<at::Tensor> copy_group(const std::vector<at::Tensor>& tensors);

// Compares shape, dtype and every bit of the elements.
bool same_bits(const at::Tensor& a, const at::Tensor& b);

}  // namespace torch_ir
