// The safetensors format, read and written.
//
// The format: a little-endian u64 header length, a JSON header, the data; see the README of
// huggingface/safetensors. Every rule of the reference implementation is checked, and a file that
// breaks one is a WeightError that names the file, the tensor and the rule.
//
// The format has no dtypes for complex128 and complex32. They are written as "C128" and "C32", an
// extension that is read here only: the reference implementation refuses such a file.
#pragma once

#include <cstddef>
#include <string>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// A file begins with the length of its header, in so many bytes.
constexpr size_t kSafetensorsLengthSize = 8;

// The tensors of the file in the order of their data. The file is mapped: each tensor keeps the
// mapping alive, and writing to one changes private pages, never the file. Only tensors of up to
// 1 MiB that the file does not align as LibTorch's allocator does (64 bytes) are copied, so that
// what is computed from them has the same bits as before they were saved.
StateDict load_weights_safetensors(const std::string& path);

// Writes `tensors` (any device, any strides) atomically; the same tensors give the same bytes.
// Data is ordered as the reference implementation orders it: by descending alignment, then name.
// Throws WeightError for a dtype that the format does not have.
void save_weights_safetensors(const StateDict& tensors, const std::string& path);

}  // namespace torch_ir
