#include "harness/divergence/reference_run.h"

#include <ATen/Context.h>

#include "harness/divergence/reproducer_files.h"
#include "torch_ir/operators/operator_table.h"

namespace torch_ir {

ReferenceWatch::ReferenceWatch(const Program& program) {
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    if (!may_draw(program.nodes[i].target)) continue;
    for (const ValueId output : program.nodes[i].outputs) {
      drawing_.emplace(program[output].name, i);
    }
  }
}

void ReferenceWatch::run(Candidate& candidate, const std::vector<at::Tensor>& inputs, uint64_t seed,
                         const ValueObserver& observer) {
  at::manual_seed(seed);
  RandomState before;
  candidate.observe(inputs, [&](const std::string& name, const at::Tensor& value) {
    if (value.defined()) facts_.add(name, value);
    if (const auto node = drawing_.find(name); node != drawing_.end()) {
      if (before.has_moved()) random_nodes_.insert(node->second);
      before = RandomState();
    }
    if (observer) observer(name, value);
  });
}

ExplainedGraph::ExplainedGraph(const ExplainedRun& run)
    : program(run.program()),
      memory(memory_of(run.graph_case)),
      graph_case(run.graph_case),
      grouped(group_nodes(program, memory, run.groups)),
      grouped_memory(memory_of(graph_case.with(grouped.program))),
      cutter(grouped.program, grouped_memory, grouped.spans),
      ids(program.ids()),
      watch(program) {}

Case part_case(const ExplainedGraph& graph, const GraphPart& part) {
  Case result = Case{.weights = graph.graph_case.weights}.with(part.program);
  result.weights = used_weights(result);
  return result;
}

bool fits_a_file(const at::Tensor& tensor) {
  return tensor.defined() && tensor.layout() == c10::kStrided && !tensor.is_quantized() &&
         !tensor.is_meta();
}

at::Tensor plain_copy(const at::Tensor& tensor) {
  return tensor.detach().cpu().resolve_conj().resolve_neg().clone(at::MemoryFormat::Contiguous);
}

}  // namespace torch_ir
