// Reads and writes safetensors files.
//
// The format: a little-endian u64 header length, a JSON header, the data; see the README of
// huggingface/safetensors. Files that break a rule of the reference implementation are rejected
// with a WeightError that names the file, the tensor and the rule.
//
// The format has no complex128 and complex32. They are written as "C128" and "C32", an extension
// that the reference implementation rejects.
#pragma once

#include <cstddef>
#include <string>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// The size of the header length at the beginning of a file.
constexpr size_t kSafetensorsLengthSize = 8;

// Returns the tensors in the order of their data. Each keeps the mapped file alive; writes change
// private pages, never the file. Tensors of up to 1 MiB that are not aligned as LibTorch's
// allocator aligns (64 bytes) are copied, so that results have the same bits as before saving.
StateDict load_weights_safetensors(const std::string& path);

// Writes `tensors` (any device, any strides) atomically and deterministically. Data is ordered as
// in the reference implementation: by descending alignment, then name. Throws WeightError for a
// dtype that the format lacks.
void save_weights_safetensors(const StateDict& tensors, const std::string& path);

}  // namespace torch_ir
