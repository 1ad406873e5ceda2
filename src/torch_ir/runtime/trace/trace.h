// Trace: the operator calls that eager makes for a graph on inputs of one layout.
//
// Composite operators are replaced by their calls, views become tensors over the memory of their
// base, and values that depend only on constants are constants. Replays makes a trace with
// trace_graph and place_buffers, and shares it, immutable, between frames.
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
#include <string_view>
#include <vector>

#include "torch_ir/ir/program.h"
#include "torch_ir/operators/call_recording.h"
#include "torch_ir/runtime/graph/execution_options.h"
#include "torch_ir/runtime/kernels/kernel.h"

namespace torch_ir {

using BufferId = uint32_t;
using TensorId = uint32_t;

enum class BufferKind { kInput, kConstant, kIntermediate };

enum class Placement {
  // An input or a constant.
  kOutside,
  kArena,
  kOutput,
  // Memory that the operator returns.
  kReturned,
  kNowhere,
};

struct BufferPlace {
  Placement placement = Placement::kOutside;
  size_t offset = 0;
  // The buffer whose memory it takes over after its last reader; itself if it takes none.
  BufferId owner = 0;
  // The call that defines it and the last that uses its memory.
  size_t first_call = 0;
  size_t last_call = 0;
};

struct TraceBuffer {
  BufferKind kind = BufferKind::kIntermediate;
  // For an input, from its first element on.
  size_t bytes = 0;
  BufferPlace place = {};
};

struct TraceTensor {
  BufferId buffer = 0;
  c10::ScalarType dtype = c10::kFloat;
  at::DimVector sizes = {};
  at::DimVector strides = {};
  // In elements.
  int64_t offset = 0;
  at::Tensor constant = {};
};

size_t bytes_of(const TraceTensor& tensor);
bool is_contiguous(const TraceTensor& tensor);
// Whether they have the same sizes and strides.
bool are_alike(const TraceTensor& a, const TraceTensor& b);

bool has_layout(const at::Tensor& tensor, const TraceTensor& traced);

using TraceList = RecordedList<TensorId>;
using TraceArgument = RecordedArgument<TensorId>;

// A replacement for calls of operators, made by a pass.
struct FusedCall {
  // "onednn::convolution"
  std::string name;
  // Takes the frame's tensors in place of the trace's.
  std::function<std::unique_ptr<PreparedKernel>(const KernelCall& call)> prepare;
};

struct TraceCall {
  // For a fused call, one of the operators that it replaces.
  c10::OperatorHandle op;
  // One for each argument of the schema; for a fused call, its inputs.
  std::vector<TraceArgument> arguments;
  // The returned tensors, with lists flattened.
  std::vector<TensorId> outputs;
  // The node of the graph that it belongs to.
  size_t step = 0;
  // Null for the call of an operator.
  std::shared_ptr<const FusedCall> fused = nullptr;

  std::string name() const;
};

// A value of the graph, in a trace that keeps values (ExecutionOptions::keeps_values).
struct TraceValue {
  // How many calls a value takes that exists only inside a fused call.
  static constexpr size_t kNever = SIZE_MAX;

  ValueId value;
  TensorId tensor;
  // The node that makes it.
  size_t step;
  // How many calls of the trace run until it is made; later ones may use its memory again.
  size_t num_calls;
};

// Gets a value of a node; undefined if it exists only inside a fused call. Its memory is used again
// later.
using OnValue = std::function<void(ValueId value, const at::Tensor& tensor)>;

struct Trace {
  std::vector<TraceBuffer> buffers;
  std::vector<TraceTensor> tensors;
  std::vector<TraceCall> calls;
  // One for each input of the graph; nothing for numbers.
  std::vector<std::optional<TensorId>> inputs;
  // Numbers are constants: they are the same in every run.
  std::vector<TensorId> outputs;
  // By num_calls; without values that no output needs.
  std::vector<TraceValue> values = {};
  PlanMemory memory;

  TensorId add(TraceTensor tensor) {
    tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(tensors.size() - 1);
  }
  BufferId add_buffer(BufferKind kind, size_t bytes) {
    buffers.push_back({kind, bytes});
    return static_cast<BufferId>(buffers.size() - 1);
  }

  BufferKind kind(TensorId tensor) const { return buffers[tensors[tensor].buffer].kind; }
  TraceBuffer& buffer_of(TensorId tensor) { return buffers[tensors[tensor].buffer]; }
  const TraceBuffer& buffer_of(TensorId tensor) const { return buffers[tensors[tensor].buffer]; }
  // Whether it has as many bytes as its buffer, from the first on.
  bool covers_buffer(const TraceTensor& tensor) const {
    return tensor.offset == 0 && bytes_of(tensor) == buffers[tensor.buffer].bytes;
  }
};

std::vector<TensorId> tensors_of(const TraceArgument& argument);
std::vector<TensorId> tensors_of(const TraceCall& call);
std::vector<TensorId> tensors_and_outputs_of(const TraceCall& call);

// Whether the flag `name` among the arguments is set, or unknown: there is none, or it is no bool.
bool may_be_true(const TraceCall& call, std::string_view name);

// Whether the call writes to its argument at `position`, according to its schema or because it
// updates running statistics, which schemas omit.
bool writes_argument(const TraceCall& call, size_t position);
bool writes_any_argument(const TraceCall& call);

enum class NeededMemory {
  kAll,
  // Only those that are read.
  kUsed,
  // The operator returns its results in memory of its own.
  kNone,
};

// Sets the places of all buffers, and Trace::memory. `needs` has one entry for each call; if empty,
// all results of all calls need memory. `reuse_memory` is that of ExecutionOptions.
void place_buffers(Trace& trace, bool reuse_memory, const std::vector<NeededMemory>& needs = {});

}  // namespace torch_ir
