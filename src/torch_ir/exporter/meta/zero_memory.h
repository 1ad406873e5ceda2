// Memory that reads as zeros and costs nothing until it is written.
//
// Stands in for the data of meta tensors while an operator runs on the CPU to show the shape of
// its result: a weight of many gigabytes is a range of addresses over the kernel's one zero page.
#pragma once

#include <c10/core/Storage.h>

#include <cstddef>

namespace torch_ir {

// A resizable CPU storage of `bytes` zeros. Throws Error when the address space does not suffice.
c10::Storage zero_storage(size_t bytes);

}  // namespace torch_ir
