// kHasStubs: whether ATen's dispatch stubs can be called from outside LibTorch; this header makes
// them callable.
//
// A stub, such as at::native::copy_stub, picks a kernel for the processor's instruction set. Its
// call operator is compiled into the caller and must name the builds that LibTorch has; on x86-64
// these are AVX2 and AVX-512. Elsewhere kHasStubs is false, and kernels that need stubs take no
// call. Include this before all headers of ATen.
#pragma once

#if defined(__x86_64__)
#define HAVE_AVX2_CPU_DEFINITION
#define HAVE_AVX512_CPU_DEFINITION
#define TORCH_IR_HAS_STUBS 1
#else
#define TORCH_IR_HAS_STUBS 0
#endif

#include <ATen/native/DispatchStub.h>

#include <utility>

namespace torch_ir {

constexpr bool kHasStubs = TORCH_IR_HAS_STUBS != 0;

template <class Stub, class... Arguments>
void call_stub([[maybe_unused]] Stub& stub, [[maybe_unused]] Arguments&&... arguments) {
#if TORCH_IR_HAS_STUBS
  stub(c10::DeviceType::CPU, std::forward<Arguments>(arguments)...);
#endif
}

}  // namespace torch_ir
