// TORCH_IR_CLONES: builds one function for several instruction sets ("avx2", and "default" for all
// others); the loader picks the best for the processor.
//
// Functions in an unnamed namespace cannot have clones, and helpers of cloned functions must be
// inlined always. ThreadSanitizer disables clones, as the resolver runs before its runtime starts.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__)
#define TORCH_IR_HAS_CLONES
#define TORCH_IR_CLONES(...) __attribute__((target_clones(__VA_ARGS__)))
#else
#define TORCH_IR_CLONES(...)
#endif
