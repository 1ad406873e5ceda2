#include "harness/divergence/reference_run.h"

#include <ATen/Context.h>

#include <algorithm>
#include <string_view>

#include "harness/divergence/reproducer_files.h"
#include "torch_ir/operators/operator_table.h"

namespace torch_ir {
namespace {

struct Wanted {
  at::Tensor value;
  at::Tensor copy;
};

class Recording {
 public:
  Recording(const ExplainedGraph& graph, const GraphPart& part, size_t first)
      : graph_(graph), part_(part), first_(first) {
    for (const ValueId input : part.program.user_inputs()) inputs_[part.program[input].name];
    for (const ValueId output : part.program.outputs) outputs_[part.program[output].name];
  }

  void observe(const std::string& name, const at::Tensor& value) {
    if (const auto input = inputs_.find(name); input != inputs_.end()) copy(value, input->second);
    const auto id = graph_.find(name);
    const auto node = id ? graph_.grouped.program[*id].producer : std::nullopt;
    if (!node) return;
    if (*node < first_) copy_again(*node);
    const auto output = outputs_.find(name);
    if (output == outputs_.end()) return;
    copy(value, output->second);
    ++num_outputs_;
  }

  bool is_complete() const { return !outputs_.empty() && num_outputs_ == outputs_.size(); }

  std::optional<Case> finish() {
    Case recorded = part_case(graph_, part_);
    for (const ValueId input : part_.program.user_inputs()) {
      recorded.inputs.push_back(inputs_[part_.program[input].name].copy);
    }
    for (const ValueId output : part_.program.outputs) {
      recorded.expected.push_back(outputs_[part_.program[output].name].copy);
    }
    const auto is_there = [](const at::Tensor& tensor) { return tensor.defined(); };
    if (!std::ranges::all_of(recorded.inputs, is_there)) return std::nullopt;
    if (!std::ranges::all_of(recorded.expected, is_there)) recorded.expected.clear();
    return recorded;
  }

 private:
  static void copy(const at::Tensor& value, Wanted& wanted) {
    if (!fits_a_file(value)) return;
    wanted.value = value;
    wanted.copy = plain_copy(value);
  }

  // Node `index`, which ran before the part, may have written to the copied value.
  void copy_again(size_t index) {
    const std::vector<size_t>& written = graph_.grouped_memory.written_by(index);
    if (written.empty()) return;
    for (auto& [name, input] : inputs_) {
      const size_t memory = graph_.grouped_memory.of(graph_.id_of(name));
      const bool is_written = std::ranges::find(written, memory) != written.end();
      if (is_written && input.value.defined()) input.copy = plain_copy(input.value);
    }
  }

  const ExplainedGraph& graph_;
  const GraphPart& part_;
  const size_t first_;
  std::unordered_map<std::string, Wanted> inputs_;
  std::unordered_map<std::string, Wanted> outputs_;
  size_t num_outputs_ = 0;
};

std::unordered_map<std::string_view, ValueId> ids_by_name(const Program& program) {
  std::unordered_map<std::string_view, ValueId> ids;
  for (ValueId id = 0; id < program.values.size(); ++id) ids.emplace(program[id].name, id);
  return ids;
}

}  // namespace

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
      ids(ids_by_name(program)),
      watch(program) {}

Case part_case(const ExplainedGraph& graph, const GraphPart& part) {
  Case result = Case{.weights = graph.graph_case.weights}.with(part.program);
  result.weights = used_weights(result);
  return result;
}

std::optional<Case> record_part(const ExplainedRun& run, const ExplainedGraph& graph,
                                const GraphPart& part, size_t first) {
  Recording recording(graph, part, first);
  at::manual_seed(run.settings.seed);
  run.candidate.observe(
      run.inputs(),
      [&](const std::string& name, const at::Tensor& value) { recording.observe(name, value); },
      [&] { return recording.is_complete(); });
  return recording.finish();
}

bool fits_a_file(const at::Tensor& tensor) {
  return tensor.defined() && tensor.layout() == c10::kStrided && !tensor.is_quantized() &&
         !tensor.is_meta();
}

at::Tensor plain_copy(const at::Tensor& tensor) {
  return tensor.detach().cpu().resolve_conj().resolve_neg().clone(at::MemoryFormat::Contiguous);
}

}  // namespace torch_ir
