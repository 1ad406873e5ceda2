#include "harness/divergence/explained_run.h"

#include <ATen/Context.h>

namespace torch_ir {

void ExplainedRun::observe_model(const ValueObserver& observer) const {
  at::manual_seed(settings.seed);
  candidate.observe(inputs(), observer);
}

ExplainedGraph::ExplainedGraph(const ExplainedRun& explained)
    : run(explained),
      program(run.program()),
      memory(memory_of(run.graph_case)),
      grouped(group_nodes(program, memory, run.groups)),
      grouped_memory(memory_of(run.graph_case.with(grouped.program))),
      ids(program.ids()) {}

bool fits_a_file(const at::Tensor& tensor) {
  return tensor.defined() && tensor.layout() == c10::kStrided && !tensor.is_quantized() &&
         !tensor.is_meta();
}

at::Tensor plain_copy(const at::Tensor& tensor) {
  return tensor.detach().cpu().resolve_conj().resolve_neg().clone(at::MemoryFormat::Contiguous);
}

}  // namespace torch_ir
