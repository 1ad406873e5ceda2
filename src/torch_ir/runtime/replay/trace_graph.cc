#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "torch_ir/operators/dispatch_mode.h"
#include "torch_ir/runtime/graph/memory_overlap.h"
#include "torch_ir/runtime/interpreter/run.h"
#include "torch_ir/runtime/replay/tracer.h"

namespace torch_ir {
namespace {

std::optional<size_t> first_reader(const GraphRange& range, ValueId value) {
  for (size_t i = range.first; i < range.last; ++i) {
    bool reads = false;
    visit_values(range.graph->nodes[i], [&](ValueId other) { reads |= other == value; });
    if (reads) return i;
  }
  return std::nullopt;
}

// The values to trace on. Copies those that the trace may write to; `copies` keep their memory.
Stack separate_values(const GraphRange& range, const std::vector<at::Tensor>& inputs,
                      std::vector<at::Tensor>& copies) {
  Stack values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const at::Tensor& input = inputs[i];
    const LoweredValue& value = range.value(range.inputs[i]);
    if (value.is_scalar()) {
      values.emplace_back(input.item());
      continue;
    }
    if (input.layout() != c10::kStrided || input.is_quantized() || input.is_conj() ||
        input.is_neg()) {
      throw TraceRefused{"it reads a tensor that is not dense",
                         first_reader(range, range.inputs[i].value)};
    }
    if (value.is_written) copies.push_back(copy_group({input}).front());
    const at::Tensor& plain = value.is_written ? copies.back() : input;
    // Inputs that share a tensor or memory now may be separate in the next run.
    values.emplace_back(
        at::from_blob(plain.mutable_data_ptr(), plain.sizes(), plain.strides(), plain.options()));
  }
  return values;
}

void add_constants(const GraphRange& range, Tracer& tracer) {
  std::unordered_set<const c10::TensorImpl*> known;
  const auto add = [&](const at::Tensor& tensor) {
    if (known.insert(tensor.unsafeGetTensorImpl()).second) tracer.add_constant(tensor);
  };
  const auto add_value = [&](ValueId id) {
    const at::Tensor& constant = range.graph->values[id].constant;
    if (constant.defined()) add(constant);
  };
  const auto add_fixed = [&](const auto& item) {
    if (const auto* fixed = std::get_if<c10::IValue>(&item)) for_each_tensor(*fixed, add);
  };
  for (size_t i = range.first; i < range.last; ++i) {
    const LoweredNode& node = range.graph->nodes[i];
    visit_values(node, add_value);
    for (const NodeArgument& argument : node.arguments) {
      add_fixed(argument);
      if (const auto* list = std::get_if<ListArgument>(&argument)) {
        std::ranges::for_each(list->items, add_fixed);
      }
    }
  }
  for (const GraphPort& output : range.outputs) add_value(output.value);
}

// Graphs state whether their outputs are tensors or numbers, but this may be unchecked.
void check_output(const LoweredGraph& graph, ValueId id, const c10::IValue& value) {
  const bool is_number = value.isScalar();
  const bool is_tensor = value.isTensor() && value.toTensor().defined();
  if (graph.values[id].is_scalar() ? is_number : is_tensor || is_number) return;
  throw TraceRefused{"it returns None, but the graph declares a value",
                     (*graph.source)[id].producer};
}

Trace trace_once(const GraphRange& range, const Stack& values, const TraceOptions& options,
                 Tracer& tracer) {
  const LoweredGraph& graph = *range.graph;
  std::vector<std::optional<TensorId>> inputs;
  for (const c10::IValue& value : values) {
    inputs.push_back(value.isTensor() ? std::optional(tracer.add_input(value.toTensor()))
                                      : std::nullopt);
  }
  add_constants(range, tracer);
  Stack results;
  {
    const DispatchModeGuard mode(tracer, DispatchDepth::kInner);
    const PlainKernelsGuard guard;
    StepRun run(range, values, options.symbols);
    // Each run reads anew what the graph may write to.
    for (ValueId id = 0; range.is_whole && id < graph.values.size(); ++id) {
      const LoweredValue& value = graph.values[id];
      if (!value.is_written || !value.constant.defined()) continue;
      tracer.note_later_write(tracer.id_of(run.value(id).toTensor()));
    }
    while (!run.is_done()) {
      const LoweredNode& node = graph.nodes[run.next_step()];
      tracer.begin_step(run.next_step());
      run.advance();
      if (!options.keeps_values) continue;
      for (const ValueId value : node.outputs()) {
        tracer.note_value(value, run.value(value), graph.values[value].declared->dtype);
      }
    }
    results = run.outputs();
  }
  std::vector<TensorId> outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    check_output(graph, range.outputs[i].value, results[i]);
    const at::Tensor output = as_tensor(results[i], range.outputs[i].dtype);
    if (!results[i].isTensor()) tracer.add_constant(output);
    outputs.push_back(tracer.id_of(output));
    // Code after this part of the graph writes to it.
    if (range.value(range.outputs[i]).is_written) tracer.note_later_write(outputs.back());
  }
  Trace trace = tracer.take(std::move(outputs));
  trace.inputs = std::move(inputs);
  return trace;
}

// Drops values that dropped calls made, and counts the calls that are left before the others.
void keep_live_values(Trace& trace, const std::vector<bool>& is_live) {
  size_t next_call = 0;
  size_t num_live = 0;
  // By buffer: whether the last call that wrote to it is live; a buffer without one is given.
  std::vector<bool> is_made;
  for (const TraceBuffer& buffer : trace.buffers) {
    is_made.push_back(buffer.kind != BufferKind::kIntermediate);
  }
  std::erase_if(trace.values, [&](TraceValue& value) {
    for (; next_call < value.num_calls; ++next_call) {
      num_live += is_live[next_call] ? 1 : 0;
      for (const TensorId output : trace.calls[next_call].outputs) {
        is_made[trace.tensors[output].buffer] = is_live[next_call];
      }
    }
    value.num_calls = num_live;
    return !is_made[trace.tensors[value.tensor].buffer];
  });
}

// Drops calls whose results nothing reads, and constants that no other call reads. Writes to inputs
// are visible outside.
void remove_dead_calls(Trace& trace) {
  std::vector<bool> is_needed(trace.buffers.size(), false);
  const auto need = [&](TensorId tensor) { is_needed[trace.tensors[tensor].buffer] = true; };
  const auto needed = [&](TensorId tensor) {
    const BufferId buffer = trace.tensors[tensor].buffer;
    return is_needed[buffer] || trace.buffers[buffer].kind == BufferKind::kInput;
  };
  const auto writes_needed = [&](const TraceCall& call) {
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      if (writes_argument(call, i) && std::ranges::any_of(tensors_of(call.arguments[i]), needed)) {
        return true;
      }
    }
    return false;
  };
  std::ranges::for_each(trace.outputs, need);
  std::vector<bool> is_live(trace.calls.size());
  for (size_t i = trace.calls.size(); i-- > 0;) {
    const TraceCall& call = trace.calls[i];
    is_live[i] =
        call.outputs.empty() || std::ranges::any_of(call.outputs, needed) || writes_needed(call);
    if (is_live[i]) std::ranges::for_each(tensors_of(call), need);
  }
  keep_live_values(trace, is_live);
  std::erase_if(trace.calls,
                [&](const TraceCall& call) { return !is_live[&call - trace.calls.data()]; });
  for (const TraceValue& value : trace.values) need(value.tensor);
  for (TraceTensor& tensor : trace.tensors) {
    if (!is_needed[tensor.buffer]) tensor.constant.reset();
  }
}

}  // namespace

Trace trace_graph(const GraphRange& range, const std::vector<at::Tensor>& inputs,
                  const TraceOptions& options) {
  CallNumbers unfolded;
  for (;;) {
    Tracer tracer(options.fold_constants, unfolded);
    std::vector<at::Tensor> copies;
    Trace trace = trace_once(range, separate_values(range, inputs, copies), options, tracer);
    if (tracer.wrongly_folded().empty()) {
      remove_dead_calls(trace);
      return trace;
    }
    unfolded.insert(tracer.wrongly_folded().begin(), tracer.wrongly_folded().end());
  }
}

}  // namespace torch_ir
