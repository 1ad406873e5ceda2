#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/executor/graph/memory_overlap.h"
#include "torch_ir/executor/interpreter/run.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/tensor_text.h"

namespace torch_ir {
namespace {

// What a run writes to is copied, together with what shares its memory: an input that was passed
// twice stays one tensor.
void store_copies(const LoweredGraph& graph, const Stack& inputs, RunValues& values) {
  std::vector<ValueId> ids;
  // Numbers have no memory: undefined tensors stand in for them.
  std::vector<at::Tensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ids.push_back(graph.inputs[i].value);
    tensors.push_back(inputs[i].isTensor() ? inputs[i].toTensor() : at::Tensor());
  }
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    const LoweredValue& value = graph.values[id];
    if (!value.constant.defined() || value.is_fixed()) continue;
    ids.push_back(id);
    tensors.push_back(value.constant);
  }
  const std::vector<size_t> groups = overlap_groups(tensors);
  std::map<size_t, std::vector<size_t>> members;
  for (size_t i = 0; i < tensors.size(); ++i) members[groups[i]].push_back(i);
  const auto is_written = [&](size_t i) { return graph.values[ids[i]].is_written; };
  for (const auto& [group, indices] : members) {
    std::vector<at::Tensor> originals;
    for (const size_t i : indices) originals.push_back(tensors[i]);
    const bool is_copied = std::any_of(indices.begin(), indices.end(), is_written);
    const std::vector<at::Tensor> copies = is_copied ? copy_group(originals) : originals;
    for (size_t k = 0; k < indices.size(); ++k) values[ids[indices[k]]] = copies[k];
  }
}

void store_inputs(const LoweredGraph& graph, const Stack& inputs, RunValues& values) {
  if (graph.writes_in_place) store_copies(graph, inputs, values);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (graph.writes_in_place && inputs[i].isTensor()) continue;
    values[graph.inputs[i].value] = inputs[i];
  }
}

[[noreturn]] void fail(const LoweredNode& node, const TensorMeta& meta, const std::string& what) {
  throw ExecutionError(fmt::format("node '{}' ({}): output '{}' is {}", printable(node.name),
                                   printable(node.op_type), printable(meta.name), what));
}

void bind(const TensorMeta& meta, const c10::IValue& value, SymbolValues& symbols) {
  if (const auto symbol = SymExpr::parse(meta.expression).as_symbol()) {
    symbols.emplace(*symbol, value.toInt());
  }
}

void check_result(const LoweredNode& node, const TensorMeta& meta, const c10::IValue& value,
                  SymbolValues& symbols) {
  if (!value.isTensor()) {
    if (!meta.is_scalar) fail(node, meta, "a number, but the IR says a tensor");
    const bool is_whole = meta.dtype == "int64" || meta.dtype == "bool";
    if (value.isDouble() && is_whole) fail(node, meta, "a float, but the IR says " + meta.dtype);
    const bool is_named = meta.dtype == "int64" && !meta.expression.empty() && value.isInt();
    if (is_named) bind(meta, value, symbols);
    return;
  }
  const at::Tensor& output = value.toTensor();
  if (!output.defined()) return;
  if (meta.is_scalar) fail(node, meta, "a tensor, but the IR says a number");
  if (has_shape(output, meta, symbols) && output.scalar_type() == parse_dtype(meta.dtype)) return;
  fail(node, meta,
       fmt::format("{} {}, but the IR says {} {}", dtype_name(output.scalar_type()),
                   shape_list_text(output.sizes()), meta.dtype, shape_list_text(meta)));
}

}  // namespace

StepRun::StepRun(const LoweredGraph& graph, const Stack& inputs, SymbolValues* symbols,
                 const BodyRunner* run_body)
    : graph_(graph),
      outputs_(graph.outputs),
      last_(graph.nodes.size()),
      symbols_(symbols),
      run_body_(run_body),
      values_(graph.values.size()) {
  store_inputs(graph, inputs, values_);
}

StepRun::StepRun(const GraphRange& range, const Stack& inputs, SymbolValues* symbols)
    : graph_(*range.graph),
      outputs_(range.outputs),
      last_(range.last),
      symbols_(symbols),
      values_(graph_.values.size()),
      next_step_(range.first) {
  if (range.is_whole) {
    store_inputs(graph_, inputs, values_);
  } else {
    for (size_t i = 0; i < inputs.size(); ++i) values_[range.inputs[i].value] = inputs[i];
  }
}

void StepRun::advance() {
  if (next_step_ > 0) {
    for (const ValueId unread : graph_.nodes[next_step_ - 1].unread) {
      values_[unread] = c10::IValue();
    }
  }
  const LoweredNode& node = graph_.nodes[next_step_];
  run_step(node, values_, stack_,
           [this](const LoweredGraph& graph, Stack inputs) { return run_inner(graph, inputs); });
  ++next_step_;
  if (symbols_ != nullptr) check_results(node);
}

std::vector<c10::IValue> StepRun::run_inner(const LoweredGraph& graph, const Stack& inputs) const {
  // What depends on data may be another number in each iteration of a loop.
  SymbolValues symbols;
  if (symbols_ != nullptr) symbols = *symbols_;
  SymbolValues* const checked = symbols_ == nullptr ? nullptr : &symbols;
  if (run_body_ != nullptr) return (*run_body_)(graph, inputs, checked);
  StepRun run(graph, inputs, checked);
  while (!run.is_done()) run.advance();
  return run.outputs();
}

std::vector<c10::IValue> StepRun::outputs() const {
  std::vector<c10::IValue> outputs;
  outputs.reserve(outputs_.size());
  for (const GraphPort& output : outputs_) {
    const LoweredValue& value = graph_.values[output.value];
    outputs.push_back(value.is_fixed() ? c10::IValue(value.constant) : values_[output.value]);
  }
  return outputs;
}

// Throws when an output of the node that just ran is not what the IR says.
void StepRun::check_results(const LoweredNode& node) const {
  for (const ValueId output : node.outputs) {
    const LoweredValue& value = graph_.values[output];
    if (value.is_read) check_result(node, value.meta, values_[output], *symbols_);
  }
}

}  // namespace torch_ir
