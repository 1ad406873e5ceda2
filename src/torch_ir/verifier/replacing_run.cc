#include "torch_ir/verifier/replacing_run.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty_like.h>

#include <map>
#include <optional>
#include <vector>

#include "torch_ir/runtime/graph/memory_overlap.h"
#include "torch_ir/verifier/float64_run.h"

namespace torch_ir {
namespace {

std::unique_ptr<StepRun> start(const LoweredGraph& graph, const Case& graph_case) {
  const PlainKernelsGuard guard;
  return std::make_unique<StepRun>(graph, input_values(graph, graph_case.inputs),
                                   /*symbols=*/nullptr);
}

}  // namespace

ReplacingRun::ReplacingRun(const Case& graph_case, bool is_wide)
    : graph_(std::make_shared<const LoweredGraph>(lower(graph_case, c10::kCPU))),
      is_wide_(is_wide),
      run_(start(*graph_, graph_case)) {}

ReplacingRun::ReplacingRun(const ReplacingRun& other)
    : graph_(other.graph_), is_wide_(other.is_wide_), run_(std::make_unique<StepRun>(*other.run_)) {
  std::vector<ValueId> written;
  std::vector<at::Tensor> tensors;
  for (ValueId id = 0; id < graph_->values.size(); ++id) {
    const bool has_tensor = graph_->values[id].declared != nullptr &&
                            graph_->memory.is_written(id) && run_->value(id).isTensor() &&
                            run_->value(id).toTensor().defined();
    if (!has_tensor) continue;
    written.push_back(id);
    tensors.push_back(run_->value(id).toTensor());
  }
  std::map<size_t, std::vector<size_t>> groups;
  const std::vector<size_t> group_of = overlap_groups(tensors);
  for (size_t i = 0; i < tensors.size(); ++i) groups[group_of[i]].push_back(i);
  for (const auto& [group, members] : groups) {
    std::vector<at::Tensor> originals;
    for (const size_t i : members) originals.push_back(tensors[i]);
    const std::vector<at::Tensor> copies = copy_group(originals);
    for (size_t i = 0; i < members.size(); ++i) run_->set(written[members[i]], copies[i]);
  }
}

void ReplacingRun::advance() {
  const PlainKernelsGuard guard;
  std::optional<DefaultDtypeGuard> dtype;
  if (is_wide_) dtype.emplace();
  run_->advance();
}

at::Tensor ReplacingRun::value(ValueId id) const {
  const LoweredValue& value = graph_->values[id];
  if (value.is_fixed()) return value.constant;
  if (run_->value(id).isNone()) return {};
  return as_tensor(run_->value(id), value.declared->dtype);
}

void ReplacingRun::replace(ValueId id, const at::Tensor& value) {
  const c10::IValue& made = run_->value(id);
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
  run_->set(id, target);
}

}  // namespace torch_ir
