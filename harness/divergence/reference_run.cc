#include "harness/divergence/reference_run.h"

#include <ATen/Context.h>

#include <algorithm>
#include <string_view>

#include "torch_ir/ir/binding.h"

namespace torch_ir {
namespace {

bool may_draw(const OpNode& node) {
  const auto op = find_operator(node.op_type);
  return !node.graphs.empty() || (op && op->hasTag(at::Tag::nondeterministic_seeded));
}

struct AllRecorded {};

struct Wanted {
  at::Tensor value;
  at::Tensor copy;
};

class Recording {
 public:
  Recording(const IR& ir, const GraphMemory& memory, const GraphPart& part, size_t first)
      : memory_(memory), part_(part), first_(first) {
    for (size_t i = 0; i < ir.nodes.size(); ++i) {
      for (const TensorMeta& output : ir.nodes[i].outputs) nodes_.emplace(output.name, i);
    }
    for (const TensorMeta& input : part.ir.graph_inputs) inputs_[input.name];
    for (const TensorMeta& output : part.ir.graph_outputs) outputs_[output.name];
  }

  void observe(const std::string& name, const at::Tensor& value) {
    if (const auto input = inputs_.find(name); input != inputs_.end()) take(value, input->second);
    const auto node = nodes_.find(name);
    if (node == nodes_.end()) return;
    if (node->second < first_) copy_again(node->second);
    const auto output = outputs_.find(name);
    if (output == outputs_.end()) return;
    take(value, output->second);
    if (++num_outputs_ == outputs_.size()) throw AllRecorded();
  }

  std::optional<RecordedPart> finish() {
    RecordedPart recorded;
    for (const TensorMeta& input : part_.ir.graph_inputs) {
      recorded.inputs.push_back(inputs_[input.name].copy);
    }
    for (const TensorMeta& output : part_.ir.graph_outputs) {
      recorded.outputs.push_back(outputs_[output.name].copy);
    }
    const auto is_there = [](const at::Tensor& tensor) { return tensor.defined(); };
    if (!std::ranges::all_of(recorded.inputs, is_there)) return std::nullopt;
    if (!std::ranges::all_of(recorded.outputs, is_there)) recorded.outputs.clear();
    return recorded;
  }

 private:
  static void take(const at::Tensor& value, Wanted& wanted) {
    if (!fits_a_file(value)) return;
    wanted.value = value;
    wanted.copy = plain_copy(value);
  }

  // Node `index`, which ran before the part, may have written to the copied value.
  void copy_again(size_t index) {
    const std::vector<size_t>& written = memory_.written_by(index);
    if (written.empty()) return;
    for (auto& [name, input] : inputs_) {
      const auto memory = memory_.of(name);
      const bool is_written =
          memory && std::ranges::find(written, *memory) != written.end() && input.value.defined();
      if (is_written) input.copy = plain_copy(input.value);
    }
  }

  const GraphMemory& memory_;
  const GraphPart& part_;
  const size_t first_;
  std::unordered_map<std::string_view, size_t> nodes_;
  std::unordered_map<std::string, Wanted> inputs_;
  std::unordered_map<std::string, Wanted> outputs_;
  size_t num_outputs_ = 0;
};

}  // namespace

ReferenceWatch::ReferenceWatch(const IR& ir) {
  for (size_t i = 0; i < ir.nodes.size(); ++i) {
    if (!may_draw(ir.nodes[i])) continue;
    for (const TensorMeta& output : ir.nodes[i].outputs) drawing_.emplace(output.name, i);
  }
}

void ReferenceWatch::run(Candidate& candidate, const std::vector<at::Tensor>& inputs, uint64_t seed,
                         const ValueObserver& observer) {
  at::manual_seed(seed);
  RandomState before;
  candidate.observe(inputs, [&](const std::string& name, const at::Tensor& value) {
    if (value.defined()) facts_.shapes[name] = value.sizes().vec();
    if (const auto node = drawing_.find(name); node != drawing_.end()) {
      if (before.has_moved()) random_nodes_.insert(node->second);
      before = RandomState();
    }
    if (observer) observer(name, value);
  });
}

std::optional<RecordedPart> record_part(Candidate& candidate, const IR& ir,
                                        const GraphMemory& memory,
                                        const std::vector<at::Tensor>& inputs,
                                        const GraphPart& part, size_t first) {
  Recording recording(ir, memory, part, first);
  try {
    candidate.observe(inputs, [&](const std::string& name, const at::Tensor& value) {
      recording.observe(name, value);
    });
  } catch (const AllRecorded&) {
  }
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
