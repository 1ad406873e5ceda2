// Trace: the operator calls that eager makes for a program on inputs of one layout.
//
// Composite operators are taken apart into what they call, views are tensors over the memory of
// their base and no calls, and what depends on constants only is a constant. Made by trace_program,
// read by the passes that plan memory and by frames, which run it.
#pragma once

#include <ATen/DimVector.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "torch_ir/operators/call_recording.h"

namespace torch_ir {

// Indices into Trace::buffers and Trace::tensors.
using BufferId = uint32_t;
using TensorId = uint32_t;

enum class BufferKind { kInput, kConstant, kIntermediate };

// Memory that tensors lie in.
struct TraceBuffer {
  BufferKind kind = BufferKind::kIntermediate;
  // Of an input, from its first element on.
  size_t bytes = 0;
};

struct TraceTensor {
  BufferId buffer = 0;
  c10::ScalarType dtype = c10::kFloat;
  at::DimVector sizes;
  at::DimVector strides;
  // In elements, from the start of the buffer.
  int64_t offset = 0;
  // Of a constant, the tensor itself.
  at::Tensor constant;
};

// Whether the sizes, strides, offset and dtype of `tensor` are those of `traced`.
bool has_layout(const at::Tensor& tensor, const TraceTensor& traced);

using TraceList = RecordedList<TensorId>;
using TraceArgument = RecordedArgument<TensorId>;

struct TraceCall {
  c10::OperatorHandle op;
  // One for each argument of the schema.
  std::vector<TraceArgument> arguments;
  // The tensors that it returns, those of lists one by one.
  std::vector<TensorId> outputs;
  // The step of the program that it belongs to.
  size_t step = 0;
};

// A number is the same in every run.
using TraceOutput = std::variant<c10::IValue, TensorId>;

struct Trace {
  std::vector<TraceBuffer> buffers;
  std::vector<TraceTensor> tensors;
  std::vector<TraceCall> calls;
  // The tensors that the program's inputs are; nothing for numbers.
  std::vector<std::optional<TensorId>> inputs;
  std::vector<TraceOutput> outputs;

  BufferKind kind(TensorId tensor) const { return buffers[tensors[tensor].buffer].kind; }
};

// The tensors of a call's arguments, in order.
std::vector<TensorId> tensors_of(const TraceArgument& argument);
std::vector<TensorId> tensors_of(const TraceCall& call);

// Whether the call writes to its argument at `position`, as its schema says.
bool writes_argument(const TraceCall& call, size_t position);

}  // namespace torch_ir
