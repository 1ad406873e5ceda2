// Counts the heap allocations of a piece of a program.
//
// Linking this replaces malloc and similar functions with wrappers around glibc's, also in shared
// libraries such as LibTorch. When nothing is counted, they cost one test of a flag.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace torch_ir {

struct Allocations {
  int64_t count = 0;
  // Rounded up by the allocator.
  int64_t bytes = 0;
  // The most memory held at a time, beyond the memory held before.
  int64_t peak_bytes = 0;
  // How much more memory is held at the end than at the beginning.
  int64_t left_bytes = 0;
};

// Counts the allocations of `action`, in all threads. Returns nothing without glibc or under
// sanitizers that replace malloc. Only one thread may call this at a time.
std::optional<Allocations> count_allocations(const std::function<void()>& action);

}  // namespace torch_ir
