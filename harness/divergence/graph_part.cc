#include "harness/divergence/graph_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace torch_ir {
namespace {

class PartMaker {
 public:
  PartMaker(const IR& ir, const GraphMemory& memory, const ValueShapes& shapes, size_t first,
            size_t last)
      : ir_(ir), memory_(memory), shapes_(shapes), first_(first), last_(last) {
    for (const OpNode& node : ir.nodes) producers_.emplace(node.name, &node);
  }

  GraphPart make(const std::vector<std::string>& outputs) {
    for (const std::string& output : outputs) need(output);
    find_nodes();
    for (const size_t index : part_.nodes) add_node(ir_.nodes[index]);
    for (const std::string& output : outputs) add_output(output);
    part_.ir.model_name = ir_.model_name;
    part_.ir.pytorch_version = ir_.pytorch_version;
    find_problem();
    return std::move(part_);
  }

 private:
  // The value that `meta`, an input of a node, refers to: by producer, as plans look it up.
  std::string value_name(const TensorMeta& meta) const {
    if (!meta.producer_node) return meta.name;
    const auto producer = producers_.find(*meta.producer_node);
    const auto index = static_cast<size_t>(meta.producer_output_idx);
    const bool is_made = producer != producers_.end() && index < producer->second->outputs.size();
    return is_made ? producer->second->outputs[index].name : meta.name;
  }

  void need(const std::string& value) {
    needed_.insert(value);
    if (const auto memory = memory_.of(value)) needed_memories_.insert(*memory);
  }

  bool is_needed(size_t index) const {
    const auto makes_needed = [&](const TensorMeta& output) {
      return needed_.contains(output.name);
    };
    const auto is_read = [&](size_t memory) { return needed_memories_.contains(memory); };
    return std::ranges::any_of(ir_.nodes[index].outputs, makes_needed) ||
           std::ranges::any_of(memory_.written_by(index), is_read);
  }

  void find_nodes() {
    for (size_t i = last_ + 1; i-- > first_;) {
      if (!is_needed(i)) continue;
      part_.nodes.push_back(i);
      const OpNode& node = ir_.nodes[i];
      for (const TensorMeta& input : node.inputs) need(value_name(input));
      for (const auto& [name, attribute] : node.attrs) {
        for (const std::string& value : value_refs(attribute)) need(value);
      }
    }
    std::ranges::reverse(part_.nodes);
  }

  void add_node(const OpNode& node) {
    OpNode copy = node;
    for (TensorMeta& input : copy.inputs) use(input);
    for (const auto& [name, attribute] : node.attrs) {
      for (const std::string& value : value_refs(attribute)) use_number(value);
    }
    for (TensorMeta& output : copy.outputs) {
      fix_sizes(output);
      made_.emplace(output.name, output);
    }
    part_.ir.nodes.push_back(std::move(copy));
  }

  // Lets `input` refer to what the part has.
  void use(TensorMeta& input) {
    const std::string value = value_name(input);
    if (made_.contains(value)) {
      fix_sizes(input);
    } else if (is_kept_weight(value)) {
      add_weight(value);
    } else {
      input.name = value;
      input.producer_node = value;
      input.producer_output_idx = 0;
      fix_sizes(input);
      add_input(input);
    }
  }

  // Numbers that attributes refer to are values of the graph as well.
  void use_number(const std::string& value) {
    if (made_.contains(value)) return;
    const TensorMeta* meta = find_meta(value);
    if (meta == nullptr) return;
    TensorMeta input = *meta;
    input.producer_node = value;
    input.producer_output_idx = 0;
    fix_sizes(input);
    add_input(input);
  }

  const TensorMeta* find_meta(const std::string& value) const {
    for (const TensorMeta& input : ir_.graph_inputs) {
      if (input.name == value) return &input;
    }
    for (const OpNode& node : ir_.nodes) {
      for (const TensorMeta& output : node.outputs) {
        if (output.name == value) return &output;
      }
    }
    return nullptr;
  }

  // What the nodes before the part wrote to is no longer what the state dict has.
  bool is_kept_weight(const std::string& value) const {
    const auto memory = memory_.of(value);
    return ir_.weight_name_mapping.contains(value) &&
           !(memory && memory_.is_written(*memory, 0, first_));
  }

  void add_weight(const std::string& placeholder) {
    if (part_.ir.weight_name_mapping.contains(placeholder)) return;
    const std::string& name = ir_.weight_name_mapping[placeholder];
    part_.ir.weight_name_mapping.insert(placeholder, name);
    const auto is_it = [&](const TensorMeta& weight) { return weight.name == name; };
    if (std::ranges::any_of(part_.ir.weights, is_it)) return;
    const auto weight = std::ranges::find_if(ir_.weights, is_it);
    if (weight != ir_.weights.end()) part_.ir.weights.push_back(*weight);
    if (const at::Tensor* constant = ir_.constants.find(name)) {
      part_.ir.constants.insert(name, *constant);
    }
  }

  void add_input(const TensorMeta& input) {
    const auto is_it = [&](const TensorMeta& other) { return other.name == input.name; };
    if (std::ranges::any_of(part_.ir.graph_inputs, is_it)) return;
    TensorMeta copy = input;
    copy.arg.clear();
    part_.ir.graph_inputs.push_back(std::move(copy));
  }

  void add_output(const std::string& value) {
    TensorMeta output = made_.at(value);
    for (const OpNode& node : part_.ir.nodes) {
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i].name != value) continue;
        output.producer_node = node.name;
        output.producer_output_idx = static_cast<int64_t>(i);
      }
    }
    part_.ir.graph_outputs.push_back(std::move(output));
  }

  void fix_sizes(TensorMeta& meta) {
    meta.symbolic_shape.clear();
    meta.expression.clear();
    if (meta.is_scalar) return;
    const std::string value = value_name(meta);
    if (const auto shape = shapes_.find(value); shape != shapes_.end()) {
      meta.shape = shape->second;
    } else if (std::ranges::find(meta.shape, kDynamicSize) != meta.shape.end()) {
      fail(fmt::format("the size of '{}' is not known", value));
    }
  }

  void fail(const std::string& problem) {
    if (part_.problem.empty()) part_.problem = problem;
  }

  void find_problem() {
    std::unordered_map<size_t, std::string> inputs;
    std::unordered_set<size_t> written;
    for (const size_t index : part_.nodes) {
      written.insert(memory_.written_by(index).begin(), memory_.written_by(index).end());
    }
    const auto check = [&](const std::string& value) {
      const auto memory = memory_.of(value);
      if (!memory) return;
      const auto [other, is_new] = inputs.emplace(*memory, value);
      if (!is_new && written.contains(*memory)) {
        fail(
            fmt::format("'{}' and '{}' may share memory that is written to", other->second, value));
      }
    };
    for (const TensorMeta& input : part_.ir.graph_inputs) check(input.name);
    for (const auto& weight : part_.ir.weight_name_mapping) check(weight.key());
    for (const OpNode& node : part_.ir.nodes) {
      const bool reads_strides = node.op_type.starts_with("aten.as_strided");
      if (reads_strides && !node.inputs.empty() && !made_.contains(node.inputs[0].name)) {
        fail(
            fmt::format("'{}' depends on how '{}' lies in memory", node.name, node.inputs[0].name));
      }
    }
  }

  const IR& ir_;
  const GraphMemory& memory_;
  const ValueShapes& shapes_;
  const size_t first_;
  const size_t last_;
  std::unordered_map<std::string, const OpNode*> producers_;
  std::unordered_set<std::string> needed_;
  std::unordered_set<size_t> needed_memories_;
  // What the nodes of the part make.
  std::unordered_map<std::string, TensorMeta> made_;
  GraphPart part_;
};

// Ends the run of the model.
struct AllRecorded {};

// A value that is to be recorded.
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
    const auto is_missing = [](const at::Tensor& tensor) { return !tensor.defined(); };
    if (std::ranges::any_of(recorded.inputs, is_missing) ||
        std::ranges::any_of(recorded.outputs, is_missing)) {
      return std::nullopt;
    }
    return recorded;
  }

 private:
  static void take(const at::Tensor& value, Wanted& wanted) {
    if (!fits_a_file(value)) return;
    wanted.value = value;
    wanted.copy = plain_copy(value);
  }

  // Node `index`, which ran before the part, may have written to what was copied.
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

GraphPart make_graph_part(const IR& ir, const GraphMemory& memory, const ValueShapes& shapes,
                          size_t first, size_t last, const std::vector<std::string>& outputs) {
  return PartMaker(ir, memory, shapes, first, last).make(outputs);
}

bool fits_a_file(const at::Tensor& tensor) {
  return tensor.defined() && tensor.layout() == c10::kStrided && !tensor.is_quantized() &&
         !tensor.is_meta();
}

at::Tensor plain_copy(const at::Tensor& tensor) {
  return tensor.detach().cpu().resolve_conj().resolve_neg().clone(at::MemoryFormat::Contiguous);
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

}  // namespace torch_ir
