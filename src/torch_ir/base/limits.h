// Limits on the resources that a file may request.
//
// Files are untrusted, and a few bytes can claim terabytes. Readers check these limits before they
// allocate, and name the limit in the error. Raise them here and rebuild if you need more.
#pragma once

#include <cstddef>
#include <cstdint>

namespace torch_ir {

// Nesting of lists and objects. Readers recurse.
inline constexpr size_t kMaxJsonDepth = 512;
// Values take up to 24 times the memory of their text. A graph of a million nodes has this many.
inline constexpr size_t kMaxJsonValues = size_t{1} << 24;
// For documents with larger or fewer values: headers of safetensors, indices, cases, results.
inline constexpr size_t kMaxDocumentValues = size_t{1} << 22;
// Digits in a row, checked in texts that may have too many values: a parser keeps several copies of
// a number.
inline constexpr size_t kMaxJsonDigits = 10'000;

// LibTorch counts dimensions in 64-bit masks in a few places.
inline constexpr size_t kMaxTensorDims = 64;
// The address space of a process.
inline constexpr int64_t kMaxTensorBytes = int64_t{1} << 47;
// The size of a tensor of a checkpoint or an archive whose view repeats its memory.
inline constexpr uint64_t kMaxRepeatedBytes = uint64_t{1} << 36;
// The reach of the strides that a case gives an input.
inline constexpr int64_t kMaxStridedBytes = int64_t{1} << 32;
// The header of a safetensors file; the limit of the reference implementation.
inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;

// Generated values for a graph without weights or inputs: 1 GiB as doubles.
inline constexpr int64_t kMaxRandomElements = int64_t{1} << 27;
// Weights as float64, which may not fit into memory even if the originals do.
inline constexpr int64_t kMaxFloat64WeightBytes = int64_t{8} << 30;

// The inflated size of all deflated entries of an archive. Stored entries are read in place.
inline constexpr uint64_t kMaxInflatedBytes = uint64_t{512} << 20;

inline constexpr size_t kMaxPickleDepth = 200;
// On the stack, in the memo, and in total.
inline constexpr size_t kMaxPickleValues = 5'000'000;
// Counting a shared value each time it is met.
inline constexpr size_t kMaxPickleTreeSize = 10'000'000;
// Memory that values hold: items of containers, copied strings, tensors without their data.
inline constexpr size_t kMaxPickleBytes = size_t{256} << 20;

inline constexpr int kMaxExpressionDepth = 100;
inline constexpr size_t kMaxExpressionLength = 10'000;
// Archives use a longer form.
inline constexpr size_t kMaxSerializedExpressionLength = 20'000;

}  // namespace torch_ir
