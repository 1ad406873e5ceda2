#include "harness/benchmark/allocation_counter.h"

#include <cstdlib>

// Sanitizers replace malloc too.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <malloc.h>

#include <atomic>
#include <cerrno>

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* memory);
}

namespace torch_ir {
namespace {

std::atomic<bool> is_counting = false;
std::atomic<int64_t> num_allocations = 0;
std::atomic<int64_t> allocated_bytes = 0;
std::atomic<int64_t> live_bytes = 0;
std::atomic<int64_t> peak_bytes = 0;

void* taken(void* memory) {
  if (!is_counting.load(std::memory_order_relaxed) || memory == nullptr) return memory;
  const auto size = static_cast<int64_t>(malloc_usable_size(memory));
  ++num_allocations;
  allocated_bytes += size;
  const int64_t live = live_bytes += size;
  int64_t peak = peak_bytes;
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live)) {
  }
  return memory;
}

void giving_back(void* memory) {
  if (!is_counting.load(std::memory_order_relaxed) || memory == nullptr) return;
  live_bytes -= static_cast<int64_t>(malloc_usable_size(memory));
}

}  // namespace

std::optional<Allocations> count_allocations(const std::function<void()>& action) {
  num_allocations = allocated_bytes = live_bytes = peak_bytes = 0;
  is_counting = true;
  try {
    action();
  } catch (...) {
    is_counting = false;
    throw;
  }
  is_counting = false;
  return Allocations{.count = num_allocations,
                     .bytes = allocated_bytes,
                     .peak_bytes = peak_bytes,
                     .left_bytes = live_bytes};
}

}  // namespace torch_ir

// These definitions take precedence over glibc's, also in shared libraries.
extern "C" {

void* malloc(size_t size) noexcept { return torch_ir::taken(__libc_malloc(size)); }

void* calloc(size_t count, size_t size) noexcept {
  return torch_ir::taken(__libc_calloc(count, size));
}

void* realloc(void* memory, size_t size) noexcept {
  torch_ir::giving_back(memory);
  return torch_ir::taken(__libc_realloc(memory, size));
}

void* memalign(size_t alignment, size_t size) noexcept {
  return torch_ir::taken(__libc_memalign(alignment, size));
}

void* aligned_alloc(size_t alignment, size_t size) noexcept { return memalign(alignment, size); }

int posix_memalign(void** memory, size_t alignment, size_t size) noexcept {
  const bool is_power_of_two = alignment != 0 && (alignment & (alignment - 1)) == 0;
  if (!is_power_of_two || alignment % sizeof(void*) != 0) return EINVAL;
  void* result = memalign(alignment, size);
  if (result == nullptr) return ENOMEM;
  *memory = result;
  return 0;
}

void free(void* memory) noexcept {
  torch_ir::giving_back(memory);
  __libc_free(memory);
}

}  // extern "C"

#else

namespace torch_ir {

std::optional<Allocations> count_allocations(const std::function<void()>& action) {
  action();
  return std::nullopt;
}

}  // namespace torch_ir

#endif
