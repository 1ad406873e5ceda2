// TORCH_IR_CLONES: builds of one function for several instruction sets ("avx2", and "default" for
// all others). The best that this processor has is picked when the program is loaded.
//
// Functions in an unnamed namespace have no clones, and parts of cloned functions are to be inlined
// always. With ThreadSanitizer nothing has clones: what picks
// runs before its runtime does.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__)
#define TORCH_IR_CLONES(...) __attribute__((target_clones(__VA_ARGS__)))
#else
#define TORCH_IR_CLONES(...)
#endif
