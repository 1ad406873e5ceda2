// Trace: the operator calls that eager makes for a graph on inputs of one layout.
//
// Composite operators are taken apart into what they call, views are tensors over the memory of
// their base and no calls, and what depends on constants only is a constant. Replays makes it by
// trace_graph, fuse_trace and place_buffers, and shares it, never changed again, between the frames
// that run it.
#pragma once

#include <ATen/DimVector.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/executor/kernels/kernel.h"
#include "torch_ir/operators/call_recording.h"

namespace torch_ir {

// Indices into Trace::buffers and Trace::tensors.
using BufferId = uint32_t;
using TensorId = uint32_t;

enum class BufferKind { kInput, kConstant, kIntermediate };

enum class Placement {
  // Not of the run: an input or a constant.
  kOutside,
  // At an offset in the arena.
  kArena,
  // Memory of its own, that the caller gets.
  kOutput,
  // Memory that the operator returns.
  kReturned,
  // Nowhere: nobody writes or reads it.
  kNowhere,
};

struct BufferPlace {
  Placement placement = Placement::kOutside;
  size_t offset = 0;
  // The buffer whose memory it takes when nobody reads that any more; itself where it takes none.
  BufferId owner = 0;
  // The calls that define it and that are the last to use its memory.
  size_t first_call = 0;
  size_t last_call = 0;
};

// Memory that tensors lie in.
struct TraceBuffer {
  BufferKind kind = BufferKind::kIntermediate;
  // Of an input, from its first element on.
  size_t bytes = 0;
  BufferPlace place = {};
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

// How many its elements take.
size_t bytes_of(const TraceTensor& tensor);

// Whether the sizes, strides, offset and dtype of `tensor` are those of `traced`.
bool has_layout(const at::Tensor& tensor, const TraceTensor& traced);

using TraceList = RecordedList<TensorId>;
using TraceArgument = RecordedArgument<TensorId>;

// What a pass puts in the place of calls of operators.
struct FusedCall {
  // What a profile says: "onednn::convolution".
  std::string name;
  // For what a frame has in the place of the trace's arguments and outputs.
  std::function<std::unique_ptr<PreparedKernel>(const KernelCall& call)> prepare;
};

struct TraceCall {
  // Of a fused call, one of the operators that it stands for.
  c10::OperatorHandle op;
  // One for each argument of the schema; of a fused call, its inputs.
  std::vector<TraceArgument> arguments;
  // The tensors that it returns, those of lists one by one.
  std::vector<TensorId> outputs;
  // The node of the graph that it belongs to.
  size_t step = 0;
  // Null for the call of an operator.
  std::shared_ptr<const FusedCall> fused = nullptr;

  // "aten::addmm"
  std::string name() const;
};

struct Trace {
  std::vector<TraceBuffer> buffers;
  std::vector<TraceTensor> tensors;
  std::vector<TraceCall> calls;
  // The tensors that the graph's inputs are; nothing for numbers.
  std::vector<std::optional<TensorId>> inputs;
  // Numbers are constants: they are the same in every run.
  std::vector<TensorId> outputs;
  // Set by place_buffers.
  PlanMemory memory;

  BufferKind kind(TensorId tensor) const { return buffers[tensors[tensor].buffer].kind; }
  TraceBuffer& buffer_of(TensorId tensor) { return buffers[tensors[tensor].buffer]; }
  const TraceBuffer& buffer_of(TensorId tensor) const { return buffers[tensors[tensor].buffer]; }
};

// The tensors of a call's arguments, in order.
std::vector<TensorId> tensors_of(const TraceArgument& argument);
std::vector<TensorId> tensors_of(const TraceCall& call);
// The same, and then its outputs.
std::vector<TensorId> tensors_and_outputs_of(const TraceCall& call);

// Whether the call writes to its argument at `position`: as its schema says, or to running
// statistics, of which it says nothing.
bool writes_argument(const TraceCall& call, size_t position);
bool writes_any_argument(const TraceCall& call);

// Which results of a call need a place.
enum class NeededMemory {
  kAll,
  // Those that somebody reads.
  kUsed,
  // None: the operator makes them itself.
  kNone,
};

// Sets the places of all buffers, and Trace::memory. `needs` has one entry for each call; empty:
// all results of all calls. `reuse_memory` is that of ExecutionOptions.
void place_buffers(Trace& trace, bool reuse_memory, const std::vector<NeededMemory>& needs = {});

}  // namespace torch_ir
