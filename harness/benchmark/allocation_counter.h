// What a piece of a program takes from the heap, counted by standing between it and glibc.
//
// A program that links this has its own malloc, calloc, realloc, posix_memalign, aligned_alloc,
// memalign and free, which glibc's do the work of; the calls of shared libraries come here too, so
// LibTorch's allocator is seen with everything else. While nothing is counted a call costs one
// more test of a flag.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace torch_ir {

struct Allocations {
  int64_t count = 0;
  // As the allocator rounded them.
  int64_t bytes = 0;
  // The most that was held at one time, above what was held before.
  int64_t peak_bytes = 0;
  // What is held more at the end than at the beginning.
  int64_t left_bytes = 0;
};

// What `action` takes, in all threads. Nothing where the C library is not glibc, and under
// the sanitizers that have a malloc. Not for two threads at once.
std::optional<Allocations> count_allocations(const std::function<void()>& action);

}  // namespace torch_ir
