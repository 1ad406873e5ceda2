// Counts what a piece of a program takes from the heap.
//
// Linking this replaces malloc and its like by wrappers around glibc's, also in shared libraries
// such as LibTorch. Outside of a count they cost one test of a flag.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace torch_ir {

struct Allocations {
  int64_t count = 0;
  // As rounded up by the allocator.
  int64_t bytes = 0;
  // The most that was held at one time, beyond what was held before.
  int64_t peak_bytes = 0;
  // How much more is held at the end than at the beginning.
  int64_t left_bytes = 0;
};

// Counts what `action` takes, in all threads. Returns nothing without glibc or under sanitizers
// that replace malloc. Only one thread may call this at a time.
std::optional<Allocations> count_allocations(const std::function<void()>& action);

}  // namespace torch_ir
