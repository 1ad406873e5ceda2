// The limits of what is read: how much of what a file asks for it gets.
//
// Files come from elsewhere, and a few bytes can claim terabytes. Every reader refuses what goes
// beyond these in one line that has the limit, before memory is taken for it. They are all in this
// place, for whoever needs more to raise them and build again.
#pragma once

#include <cstddef>
#include <cstdint>

namespace torch_ir {

// --- JSON: IRs, models of archives, indices, results, cases ---

// Lists and objects in one another. Readers recurse.
inline constexpr size_t kMaxJsonDepth = 512;
// Values take up to 24 times the memory of their text. A graph of a million nodes has as many.
inline constexpr size_t kMaxJsonValues = size_t{1} << 24;
// The same where each takes more, or fewer do: headers of safetensors, indices, cases, results.
inline constexpr size_t kMaxDocumentValues = size_t{1} << 22;
// In a row, looked for where a text may have too many values: a parser keeps several copies of one.
inline constexpr size_t kMaxJsonDigits = 10'000;

// --- Tensors ---

// LibTorch counts them in a few places with 64 bits.
inline constexpr size_t kMaxTensorDims = 64;
// What a process can address.
inline constexpr int64_t kMaxTensorBytes = int64_t{1} << 47;
// What a tensor of a checkpoint or an archive comes to that repeats its memory.
inline constexpr uint64_t kMaxRepeatedBytes = uint64_t{1} << 36;
// How far the strides reach that a case gives an input.
inline constexpr int64_t kMaxStridedBytes = int64_t{1} << 32;
// The header of a safetensors file; the limit of the reference implementation.
inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;

// Of the values that are made up where a graph comes without weights or inputs: 1 GiB as doubles.
inline constexpr int64_t kMaxRandomElements = int64_t{1} << 27;
// Weights as float64: those that fit into memory as they are need not fit so.
inline constexpr int64_t kMaxFloat64WeightBytes = int64_t{8} << 30;

// --- Zip archives ---

// What all deflated entries of an archive inflate to. Stored ones are read in place.
inline constexpr uint64_t kMaxInflatedBytes = uint64_t{512} << 20;

// --- Pickles ---

inline constexpr size_t kMaxPickleDepth = 200;
// On the stack, in the memo, and in all.
inline constexpr size_t kMaxPickleValues = 5'000'000;
// The same when each is counted as often as it is met.
inline constexpr size_t kMaxPickleTreeSize = 10'000'000;
// For what values hold: items of containers, copied strings, tensors without their data.
inline constexpr size_t kMaxPickleBytes = size_t{256} << 20;

// --- Expressions of symbols ---

inline constexpr int kMaxExpressionDepth = 100;
inline constexpr size_t kMaxExpressionLength = 10'000;
// The longer form that archives have them in.
inline constexpr size_t kMaxSerializedExpressionLength = 20'000;

}  // namespace torch_ir
