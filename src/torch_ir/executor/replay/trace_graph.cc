#include "torch_ir/executor/replay/trace_graph.h"

#include <algorithm>
#include <utility>

#include "torch_ir/executor/interpreter/run.h"
#include "torch_ir/executor/replay/tracer.h"
#include "torch_ir/operators/dispatch_mode.h"

namespace torch_ir {
namespace {

bool may_be_traced(const LoweredGraph& graph) {
  return graph.device.is_cpu() && !graph.writes_in_place &&
         std::ranges::all_of(graph.nodes, [](const LoweredNode& node) {
           return std::holds_alternative<c10::OperatorHandle>(node.callee) ||
                  std::holds_alternative<NumberFunction>(node.callee);
         });
}

// The same memory under another tensor: inputs that are one tensor, or views of one, may be
// different ones in the next run.
at::Tensor separate(const at::Tensor& plain) {
  size_t extent = plain.numel() == 0 ? 0 : 1;
  for (int64_t d = 0; d < plain.dim() && extent > 0; ++d) {
    extent += static_cast<size_t>((plain.size(d) - 1) * plain.stride(d));
  }
  c10::Storage storage(c10::Storage::use_byte_size_t(), extent * plain.itemsize(),
                       c10::DataPtr(plain.mutable_data_ptr(), plain.device()), nullptr, false);
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU), plain.dtype());
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(plain.sizes(), plain.strides());
  return tensor;
}

Stack separate_values(const Stack& values) {
  Stack separated = values;
  for (c10::IValue& value : separated) {
    if (!value.isTensor()) continue;
    const at::Tensor& tensor = value.toTensor();
    if (tensor.layout() != c10::kStrided || tensor.is_conj() || tensor.is_neg()) {
      throw TraceRefused{"an input is not dense"};
    }
    value = separate(tensor);
  }
  return separated;
}

Trace trace_once(const LoweredGraph& graph, const Stack& values, SymbolValues* symbols,
                 Tracer& tracer) {
  std::vector<std::optional<TensorId>> inputs;
  for (const c10::IValue& value : values) {
    inputs.push_back(value.isTensor() ? std::optional(tracer.add_input(value.toTensor()))
                                      : std::nullopt);
  }
  for (const LoweredValue& value : graph.values) {
    if (value.is_fixed()) tracer.add_constant(value.constant);
  }
  std::vector<c10::IValue> results;
  {
    const DispatchModeGuard mode(tracer, DispatchDepth::kInner);
    results = run_steps(graph, values, symbols, [&](size_t step) { tracer.begin_step(step); });
  }
  std::vector<TensorId> outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    const at::Tensor output = as_tensor(results[i], graph.outputs[i].dtype);
    if (!results[i].isTensor()) tracer.add_constant(output);
    outputs.push_back(tracer.find(output));
  }
  Trace trace = tracer.take();
  trace.inputs = std::move(inputs);
  trace.outputs = std::move(outputs);
  return trace;
}

// Drops calls whose results nobody reads.
void remove_dead_calls(Trace& trace) {
  std::vector<bool> is_needed(trace.buffers.size(), false);
  const auto need = [&](TensorId tensor) { is_needed[trace.tensors[tensor].buffer] = true; };
  std::ranges::for_each(trace.outputs, need);
  std::vector<TraceCall> live;
  for (auto call = trace.calls.rbegin(); call != trace.calls.rend(); ++call) {
    const bool is_live =
        call->outputs.empty() || std::ranges::any_of(call->outputs, [&](TensorId output) {
          return is_needed[trace.tensors[output].buffer];
        });
    if (!is_live) continue;
    for (const TensorId tensor : tensors_of(*call)) need(tensor);
    live.push_back(std::move(*call));
  }
  std::ranges::reverse(live);
  trace.calls = std::move(live);
}

}  // namespace

std::optional<Trace> trace_graph(const LoweredGraph& graph, const std::vector<at::Tensor>& inputs,
                                 const TraceOptions& options) {
  if (!may_be_traced(graph)) return std::nullopt;
  const Stack values = input_values(graph, inputs);
  SymbolValues symbols;
  if (!graph.symbols.empty()) symbols = graph.symbols.bind(values);
  SymbolValues* checked_symbols = options.is_checked ? &symbols : nullptr;
  const auto trace_with = [&](bool fold_constants) -> std::optional<Trace> {
    Tracer tracer(fold_constants);
    Trace trace = trace_once(graph, separate_values(values), checked_symbols, tracer);
    if (tracer.wrote_to_folded()) return std::nullopt;
    remove_dead_calls(trace);
    return trace;
  };
  try {
    if (options.fold_constants) {
      if (auto trace = trace_with(true)) return trace;
    }
    return trace_with(false);
  } catch (const TraceRefused&) {
    return std::nullopt;
  }
}

}  // namespace torch_ir
