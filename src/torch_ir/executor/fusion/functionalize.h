// functionalize: calls that write in place, as functions.
//
// `relu_` of an intermediate value becomes `relu`, and whoever reads the memory after that reads
// the result. Only where the call writes all of the memory, of a value that is the trace's own.
#pragma once

#include "torch_ir/executor/trace/trace.h"

namespace torch_ir {

void functionalize(Trace& trace);

// For each buffer whether some call writes to it after it was made.
std::vector<bool> written_buffers(const Trace& trace);

}  // namespace torch_ir
