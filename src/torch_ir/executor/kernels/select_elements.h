// Loops that choose between elements by a mask, for elements of any kind.
#pragma once

#include <cstdint>

namespace torch_ir {

// A loop as at::TensorIterator calls it: pointers, strides in bytes, and the count.
using ElementLoop = void (*)(char** data, const int64_t* strides, int64_t count);

// data[0] = data[1] ? data[2] : data[3], for elements of so many bytes; null where there is none.
ElementLoop select_loop(int64_t element_size);

}  // namespace torch_ir
