#include "torch_ir/verifier/replacing_run.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty_like.h>

#include <optional>

#include "torch_ir/verifier/float64_run.h"

namespace torch_ir {
namespace {

StepRun start(const LoweredGraph& graph, const Case& graph_case) {
  const PlainKernelsGuard guard;
  return {graph, input_values(graph, graph_case.inputs), /*symbols=*/nullptr};
}

}  // namespace

ReplacingRun::ReplacingRun(const Case& graph_case, bool is_wide)
    : graph_(std::make_shared<const LoweredGraph>(lower(graph_case, c10::kCPU))),
      is_wide_(is_wide),
      run_(start(*graph_, graph_case)) {}

void ReplacingRun::advance() {
  const PlainKernelsGuard guard;
  std::optional<DefaultDtypeGuard> dtype;
  if (is_wide_) dtype.emplace();
  run_.advance();
}

at::Tensor ReplacingRun::value(ValueId id) const {
  const LoweredValue& value = graph_->values[id];
  if (value.is_fixed()) return value.constant;
  if (run_.value(id).isNone()) return {};
  return as_tensor(run_.value(id), value.declared->dtype);
}

void ReplacingRun::replace(ValueId id, const at::Tensor& value) {
  const c10::IValue& made = run_.value(id);
  if (!made.isTensor() || !made.toTensor().defined() || made.toTensor().sizes() != value.sizes()) {
    return;
  }
  const PlainKernelsGuard guard;
  const at::Tensor tensor = made.toTensor();
  // What shares memory that is written to has to stay in it.
  const bool stays =
      graph_->memory.is_written(id) && at::has_internal_overlap(tensor) == at::MemOverlap::No;
  const at::Tensor target = stays ? tensor : at::empty_like(tensor);
  target.copy_(value);
  run_.set(id, target);
}

}  // namespace torch_ir
