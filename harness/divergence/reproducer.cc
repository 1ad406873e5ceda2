#include "torch_ir/harness/divergence/reproducer.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "torch_ir/executor/tensor_text.h"
#include "torch_ir/harness/divergence/record_part.h"
#include "torch_ir/harness/divergence/reproducer_files.h"
#include "torch_ir/harness/stages/stages.h"
#include "torch_ir/ir/validate.h"
#include "torch_ir/verifier/compare.h"
#include "torch_ir/verifier/compare_nodes.h"

namespace torch_ir {
namespace {

// Nodes in a row, and the values of the last of them that are looked at.
struct Range {
  size_t first;
  size_t last;
  std::vector<std::string> outputs;
};

// A part that fails.
struct FailingPart {
  Range range;
  GraphPart part;
  StateDict weights = StateDict();
  RecordedPart values;
  // The output that fails, and what is wrong with it.
  std::string output;
  Tolerance tolerance;
  std::string message;
};

class Search {
 public:
  explicit Search(const FailedRun& failed) : failed_(failed) {
    const Graph& graph = failed.ir;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const TensorMeta& output : graph.nodes[i].outputs) producers_.emplace(output.name, i);
    }
    for (const std::string& value : compared_values(graph)) {
      values_[producers_.at(value)].push_back(value);
    }
  }

  std::optional<FailingPart> run() {
    const auto end = failed_.divergence ? divergent_range() : find_end();
    if (!end) return std::nullopt;
    return find_smallest(*end);
  }

  // Of the first range that could not be looked at by itself.
  const std::string& problem() const { return problem_; }

 private:
  std::optional<Range> divergent_range() const {
    const auto index = static_cast<size_t>(failed_.divergence->node.index);
    return Range{index, index, {failed_.divergence->node.value}};
  }

  Range range_to(size_t last) const { return {0, last, values_.at(last)}; }

  // The first node at which the graph fails when it runs from its beginning to there; nothing when
  // that does not reproduce the failure. The failure goes on to the outputs, so that bisection
  // finds a node behind which all is wrong, and before which it is not.
  std::optional<Range> find_end() {
    std::optional<size_t> wrong;
    for (const TensorMeta& output : failed_.ir.graph_outputs) {
      const auto producer = producers_.find(output.name);
      if (producer == producers_.end()) continue;
      if (fails(range_to(producer->second))) {
        wrong = producer->second;
        break;
      }
    }
    if (!wrong) {
      note("what was expected is not what the model computes in this process");
      return std::nullopt;
    }
    // Nodes with values to look at.
    std::vector<size_t> nodes;
    for (const auto& [node, values] : values_) {
      if (node <= *wrong) nodes.push_back(node);
    }
    std::ranges::sort(nodes);
    size_t right = 0;
    size_t bad = nodes.size() - 1;
    if (fails(range_to(nodes[0]))) return start_at(nodes[0]);
    while (bad - right > 1) {
      const size_t middle = right + (bad - right) / 2;
      (fails(range_to(nodes[middle])) ? bad : right) = middle;
    }
    return start_at(nodes[bad]);
  }

  Range start_at(size_t last) const { return {last, last, values_.at(last)}; }

  std::optional<FailingPart> find_smallest(Range range) {
    std::optional<FailingPart> smallest = try_range(range);
    if (!smallest) smallest = grow(range);
    if (!smallest) return std::nullopt;
    shrink_end(range, smallest);
    // One output shows it, unless the others have a part in it.
    Range single = smallest->range;
    single.outputs = {smallest->output};
    const bool has_several = smallest->range.outputs.size() > 1;
    std::optional<FailingPart> with_one = has_several ? try_range(single) : std::nullopt;
    return with_one ? with_one : smallest;
  }

  // Lets `range` begin earlier and earlier, and then as late as it still fails.
  std::optional<FailingPart> grow(Range& range) {
    size_t good = range.first;
    std::optional<FailingPart> failing;
    for (size_t length = 2; !failing && good > 0; length *= 2) {
      range.first = range.last + 1 > length ? range.last + 1 - length : 0;
      failing = try_range(range);
      if (!failing) good = range.first;
    }
    if (!failing) return std::nullopt;
    size_t bad = range.first;
    while (good - bad > 1) {
      range.first = bad + (good - bad) / 2;
      if (std::optional<FailingPart> shorter = try_range(range)) {
        failing = std::move(shorter);
        bad = range.first;
      } else {
        good = range.first;
      }
    }
    range.first = bad;
    return failing;
  }

  void shrink_end(Range range, std::optional<FailingPart>& smallest) {
    while (range.last > range.first) {
      --range.last;
      const auto values = values_.find(range.last);
      if (values == values_.end()) continue;
      range.outputs = values->second;
      std::optional<FailingPart> shorter = try_range(range);
      if (!shorter) return;
      smallest = std::move(shorter);
    }
  }

  bool fails(const Range& range) { return try_range(range).has_value(); }

  std::optional<FailingPart> try_range(const Range& range) {
    FailingPart failing{.range = range,
                        .part = make_graph_part(failed_.ir, failed_.memory, failed_.shapes,
                                                range.first, range.last, range.outputs),
                        .values = {},
                        .output = {},
                        .tolerance = {},
                        .message = {}};
    if (!can_run_alone(failing.part)) return std::nullopt;
    failing.weights = weights_of(failing.part.ir);
    at::manual_seed(failed_.settings.seed);
    const auto values = record_part(failed_.candidate, failed_.ir, failed_.memory, failed_.inputs,
                                    failing.part, range.first);
    if (!values) {
      note(fmt::format("not all values that node '{}' needs can be stored in a file",
                       failed_.ir.nodes[range.first].name));
      return std::nullopt;
    }
    failing.values = *values;
    if (!run(failing)) return std::nullopt;
    return failing;
  }

  bool can_run_alone(GraphPart& part) {
    for (const size_t node : part.nodes) {
      if (!failed_.random_nodes.contains(node) || !part.problem.empty()) continue;
      part.problem = fmt::format("node '{}' draws random numbers", failed_.ir.nodes[node].name);
    }
    if (part.problem.empty()) {
      const std::vector<std::string> problems = find_problems(part.ir);
      if (!problems.empty()) part.problem = problems.front();
    }
    note(part.problem);
    return part.problem.empty();
  }

  void note(const std::string& problem) {
    if (problem_.empty()) problem_ = problem;
  }

  // By state dict name; what `weights` does not have is a constant of the graph.
  StateDict weights_of(const IR& part) const {
    StateDict weights;
    for (const auto& item : part.weight_name_mapping) {
      if (weights.contains(item.value())) continue;
      const at::Tensor* weight = failed_.weights.find(item.value());
      if (weight == nullptr) weight = failed_.weights.find(item.key());
      if (weight != nullptr) weights.insert(item.value(), *weight);
    }
    return weights;
  }

  // Whether it fails on the backend.
  bool run(FailingPart& failing) {
    std::vector<at::Tensor> actual;
    at::manual_seed(failed_.settings.seed);
    try {
      actual = failed_.backend.run(failing.part.ir, failing.weights, failing.values.inputs);
    } catch (const OutputError&) {
      throw;
    } catch (const std::exception& error) {
      failing.message = message_text(error);
      failing.output = failing.part.ir.graph_outputs.front().name;
      failing.tolerance =
          tolerance_of(failing.output, failing.values.outputs.front().scalar_type());
      return failed_.threw;
    }
    const std::vector<TensorMeta>& outputs = failing.part.ir.graph_outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const at::Tensor& expected = failing.values.outputs[i];
      const Tolerance tolerance = tolerance_of(outputs[i].name, expected.scalar_type());
      const TensorComparison comparison =
          compare_tensors(i < actual.size() ? actual[i] : at::Tensor(), expected, tolerance);
      if (comparison.is_close) continue;
      std::ostringstream message;
      message << "'" << outputs[i].name << "': " << comparison;
      failing.message = message.str();
      failing.tolerance = tolerance;
      failing.output = outputs[i].name;
      return true;
    }
    return false;
  }

  Tolerance tolerance_of(const std::string& value, c10::ScalarType dtype) const {
    const std::vector<TensorMeta>& outputs = failed_.ir.graph_outputs;
    const auto output = std::ranges::find(outputs, value, &TensorMeta::name);
    const size_t position =
        output == outputs.end() ? SIZE_MAX : static_cast<size_t>(output - outputs.begin());
    return tolerance_for(failed_.settings.tolerance, position, dtype);
  }

  const FailedRun& failed_;
  // Values to the nodes that make them, and back.
  std::unordered_map<std::string, size_t> producers_;
  std::unordered_map<size_t, std::vector<std::string>> values_;
  std::string problem_;
};

std::string none_note(const std::string& problem) {
  const std::string why = problem.empty() ? "" : ": " + problem;
  return "no reproducer, since no part of the graph fails by itself" + why;
}

}  // namespace

ReproducerSearch find_reproducer(const FailedRun& failed, const std::string& directory) {
  Search search(failed);
  const std::optional<FailingPart> found = search.run();
  if (!found) return {.note = none_note(search.problem())};
  const std::vector<OpNode>& nodes = found->part.ir.nodes;
  try {
    write_reproducer(found->part.ir, found->weights, found->values.inputs, found->values.outputs,
                     directory);
  } catch (const WeightError& error) {
    return {.note = fmt::format("no reproducer: {}", error.what())};
  }
  return {.reproducer = Reproducer{.num_nodes = static_cast<int64_t>(nodes.size()),
                                   .first_node = nodes.front().name,
                                   .last_node = nodes.back().name,
                                   .command = reproducer_command(!found->weights.is_empty(),
                                                                 found->tolerance, failed.settings),
                                   .message = found->message}};
}

}  // namespace torch_ir
