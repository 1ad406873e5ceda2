#include "harness/divergence/reproducer.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "harness/divergence/graph_part.h"
#include "harness/divergence/reproducer_files.h"
#include "harness/stages/stages.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/ir/validate.h"
#include "torch_ir/verifier/compare_nodes.h"
#include "torch_ir/verifier/tolerance.h"

namespace torch_ir {
namespace {

// Those of `weights`, known by state dict name or placeholder, that `ir` uses, by state dict name.
// What `weights` does not have is a constant of the graph.
StateDict used_weights(const IR& ir, const StateDict& weights) {
  StateDict used;
  for (const auto& item : ir.weight_name_mapping) {
    if (used.contains(item.value())) continue;
    const at::Tensor* weight = weights.find(item.value());
    if (weight == nullptr) weight = weights.find(item.key());
    if (weight != nullptr) used.insert(item.value(), *weight);
  }
  return used;
}

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
  GraphFailure failure = {};
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

  // One that ends with the node that diverged; an error need not come from there.
  std::optional<FailingPart> run_from_divergence() {
    if (!failed_.divergence || failed_.threw()) return std::nullopt;
    return find_smallest(divergent_range());
  }

  // One that makes the outputs wrong.
  std::optional<FailingPart> run_from_outputs() {
    const auto end = find_end();
    if (!end) return std::nullopt;
    return find_smallest(*end);
  }

  // Of the first range that could not be looked at by itself; may be empty.
  const std::string& problem() const { return problem_; }

  // Of all that failed so far, for a search that is ended.
  const std::optional<FailingPart>& smallest() const { return smallest_; }

 private:
  Range divergent_range() const {
    const auto index = static_cast<size_t>(failed_.divergence->node.index);
    return Range{index, index, {failed_.divergence->node.value}};
  }

  Range make_range(size_t first, size_t last) const {
    return {first, last, outputs_of(first, last)};
  }

  // What is looked at of nodes [first, last]. Values are wrong where they are made, and from there
  // on; what ends with an error does so whoever reads the values, so that no node may be left out.
  std::vector<std::string> outputs_of(size_t first, size_t last) const {
    if (!failed_.threw()) return values_.at(last);
    std::unordered_set<std::string_view> read;
    for (size_t i = first; i <= last; ++i) {
      for (const TensorMeta& input : failed_.ir.nodes[i].inputs) read.insert(input.name);
    }
    std::vector<std::string> outputs;
    for (size_t i = first; i <= last; ++i) {
      const auto values = values_.find(i);
      if (values == values_.end()) continue;
      for (const std::string& value : values->second) {
        if (i == last || !read.contains(value)) outputs.push_back(value);
      }
    }
    return outputs;
  }

  // The first node at which the graph fails when it runs from its beginning to there; nothing when
  // that does not reproduce the failure. The failure goes on to the outputs, so that bisection
  // finds a node behind which all is wrong, and before which it is not.
  std::optional<Range> find_end() {
    const std::optional<size_t> wrong = find_wrong_node();
    if (!wrong) return std::nullopt;
    // Nodes with values to look at.
    std::vector<size_t> nodes;
    for (const auto& [node, values] : values_) {
      if (node <= *wrong) nodes.push_back(node);
    }
    std::ranges::sort(nodes);
    size_t right = 0;
    size_t bad = nodes.size() - 1;
    if (fails(make_range(0, nodes[0]))) return make_range(nodes[0], nodes[0]);
    while (bad - right > 1) {
      const size_t middle = right + (bad - right) / 2;
      (fails(make_range(0, nodes[middle])) ? bad : right) = middle;
    }
    return make_range(nodes[bad], nodes[bad]);
  }

  // A node that makes an output wrong; for an error, the last one.
  std::optional<size_t> find_wrong_node() {
    std::vector<size_t> nodes;
    if (failed_.threw()) {
      for (const auto& [node, values] : values_) nodes.push_back(node);
      if (!nodes.empty()) nodes = {*std::ranges::max_element(nodes)};
    } else {
      Range all{0, 0, {}};
      for (const TensorMeta& output : failed_.ir.graph_outputs) {
        const auto producer = producers_.find(output.name);
        if (producer == producers_.end() || !values_.contains(producer->second)) continue;
        nodes.push_back(producer->second);
        all.last = std::max(all.last, producer->second);
        all.outputs.push_back(output.name);
      }
      // All at once first: one after the other takes long where outputs are many and right.
      if (nodes.size() > 1) {
        if (const std::optional<FailingPart> together = try_range(all)) {
          nodes.insert(nodes.begin(), producers_.at(together->failure.output));
        } else if (problem_.empty()) {
          return std::nullopt;
        }
      }
    }
    const auto wrong =
        std::ranges::find_if(nodes, [&](size_t node) { return fails(make_range(0, node)); });
    return wrong == nodes.end() ? std::nullopt : std::optional(*wrong);
  }

  // With other nodes at its beginning.
  Range beginning_at(size_t first, const Range& range) const {
    Range other = range;
    other.first = first;
    if (failed_.threw()) other.outputs = outputs_of(first, range.last);
    return other;
  }

  std::optional<FailingPart> find_smallest(Range range) {
    std::optional<FailingPart> smallest = try_range(range);
    if (!smallest) smallest = grow(range);
    if (!smallest) return std::nullopt;
    shrink_end(range, smallest);
    // One output shows it, unless the others have a part in it.
    Range single = smallest->range;
    single.outputs = {smallest->failure.output};
    const bool has_several = smallest->range.outputs.size() > 1;
    std::optional<FailingPart> with_one = has_several ? try_range(single) : std::nullopt;
    return with_one ? with_one : smallest;
  }

  // Lets `range` begin earlier and earlier, and then as late as it still fails.
  std::optional<FailingPart> grow(Range& range) {
    size_t good = range.first;
    std::optional<FailingPart> failing;
    for (size_t length = 2; !failing && good > 0; length *= 2) {
      range = beginning_at(range.last + 1 > length ? range.last + 1 - length : 0, range);
      failing = try_range(range);
      if (!failing) good = range.first;
    }
    if (!failing) return std::nullopt;
    size_t bad = range.first;
    while (good - bad > 1) {
      range = beginning_at(bad + (good - bad) / 2, range);
      if (std::optional<FailingPart> shorter = try_range(range)) {
        failing = std::move(shorter);
        bad = range.first;
      } else {
        good = range.first;
      }
    }
    range = beginning_at(bad, range);
    return failing;
  }

  void shrink_end(Range range, std::optional<FailingPart>& smallest) {
    while (range.last > range.first) {
      --range.last;
      if (!values_.contains(range.last)) continue;
      range.outputs = outputs_of(range.first, range.last);
      std::optional<FailingPart> shorter = try_range(range);
      if (!shorter) return;
      smallest = std::move(shorter);
    }
  }

  bool fails(const Range& range) { return try_range(range).has_value(); }

  std::optional<FailingPart> try_range(const Range& range) {
    FailingPart failing{
        .range = range,
        .part = make_graph_part(failed_.ir, failed_.memory, failed_.reference.shapes(), range.first,
                                range.last, range.outputs),
        .values = {}};
    if (!can_run_alone(failing.part)) return std::nullopt;
    failing.weights = used_weights(failing.part.ir, failed_.weights);
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
    if (!smallest_ || failing.part.nodes.size() < smallest_->part.nodes.size()) smallest_ = failing;
    return failing;
  }

  bool can_run_alone(GraphPart& part) {
    for (const size_t node : part.nodes) {
      if (!failed_.reference.random_nodes().contains(node) || !part.problem.empty()) continue;
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

  // Whether it fails on the backend as the run did: a part that can not be run shows nothing of
  // values that are wrong, nor they of an error, nor what an executor refuses of what it crashes
  // on.
  bool run(FailingPart& failing) {
    RunSettings settings = failed_.settings;
    settings.tolerance = tolerance_of(failing.part.ir);
    const auto failure = failed_.check(failing.part.ir, failing.weights, failing.values.inputs,
                                       failing.values.outputs, settings);
    if (!failure || failure->threw != failed_.threw()) return false;
    if (!command_end_) command_end_ = failure->command_end;
    if (failure->command_end != *command_end_) return false;
    failing.failure = *failure;
    return true;
  }

  // Outputs of the graph keep a tolerance of their own wherever they are in the part.
  ToleranceRule tolerance_of(const IR& part) const {
    const ToleranceRule& whole = failed_.settings.tolerance;
    ToleranceRule rule = whole;
    rule.outputs.clear();
    const std::vector<TensorMeta>& outputs = failed_.ir.graph_outputs;
    for (size_t i = 0; i < part.graph_outputs.size(); ++i) {
      const auto output = std::ranges::find(outputs, part.graph_outputs[i].name, &TensorMeta::name);
      const auto own = whole.outputs.find(static_cast<size_t>(output - outputs.begin()));
      if (own != whole.outputs.end()) rule.outputs.emplace(i, own->second);
    }
    return rule;
  }

  const FailedRun& failed_;
  // Values to the nodes that make them, and back.
  std::unordered_map<std::string, size_t> producers_;
  std::unordered_map<size_t, std::vector<std::string>> values_;
  std::string problem_;
  // Of the first part that failed: all of the graph that comes before the last value.
  std::optional<std::string> command_end_;
  std::optional<FailingPart> smallest_;
};

struct FoundPart {
  std::optional<FailingPart> part = std::nullopt;
  // Whether it is one that ends where the values first differ, if they do.
  bool ends_at_divergence = true;
  std::string problem = {};
  bool is_cut_short = false;
};

// What the model throws ends the search only.
FoundPart find_part(const FailedRun& failed) {
  Search search(failed);
  FoundPart found;
  try {
    found.part = search.run_from_divergence();
    if (!found.part) {
      found.ends_at_divergence = !failed.divergence || failed.threw();
      found.part = search.run_from_outputs();
    }
    found.problem = search.problem();
  } catch (const OutputError&) {
    throw;
  } catch (const SearchEnded&) {
    found.part = search.smallest();
    found.is_cut_short = true;
  } catch (const std::exception& error) {
    found.part = search.smallest();
    found.problem = message_text(error);
  }
  return found;
}

ReproducerSearch write(const FailingPart& found, const RunSettings& settings,
                       const std::string& directory) {
  const std::vector<OpNode>& nodes = found.part.ir.nodes;
  write_reproducer(found.part.ir, found.weights, found.values.inputs, found.values.outputs,
                   directory);
  return {.reproducer = Reproducer{.num_nodes = static_cast<int64_t>(nodes.size()),
                                   .first_node = nodes.front().name,
                                   .last_node = nodes.back().name,
                                   .command = reproducer_command(!found.weights.is_empty(),
                                                                 found.failure.tolerance, settings),
                                   .message = found.failure.message}};
}

// Of a run that ended with an error nothing is known yet.
std::vector<at::Tensor> expected_outputs(const FailedRun& failed) {
  if (!failed.threw()) return failed.expected;
  try {
    at::manual_seed(failed.settings.seed);
    return failed.candidate.expected(failed.inputs);
  } catch (const std::exception&) {
    // Then only the error can be seen again.
    return {};
  }
}

// Without what the files can not tell either: how a tensor lies in memory, and where.
std::vector<at::Tensor> as_in_files(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> plain;
  for (const at::Tensor& tensor : tensors) {
    plain.push_back(fits_a_file(tensor) ? plain_copy(tensor) : tensor);
  }
  return plain;
}

std::string colon(const std::string& reason) { return reason.empty() ? "" : ": " + reason; }

// What is left where no part is found; `problem` says why not, as far as is known.
ReproducerSearch try_whole_graph(const FailedRun& failed, const std::string& problem,
                                 const std::string& directory) {
  const std::vector<at::Tensor> expected = expected_outputs(failed);
  const std::vector<at::Tensor> inputs = as_in_files(failed.inputs);
  const auto failure = failed.check(failed.ir, used_weights(failed.ir, failed.weights), inputs,
                                    expected, failed.settings);
  if (!failure) {
    return {.note =
                "No reproducer: the graph failed once, and did not when it ran again on the "
                "same inputs"};
  }
  RunSettings settings = failed.settings;
  // A command has one tolerance for all.
  if (!settings.tolerance.outputs.empty()) settings.tolerance = {.fixed = failure->tolerance};
  ReproducerSearch found = whole_graph_reproducer(failed.ir, failed.weights, inputs, expected,
                                                  settings, failure->message, directory);
  if (!found.reproducer) return found;
  const bool is_unexplained = failed.nodes_agree && !failure->threw;
  if (is_unexplained) {
    found.note =
        "All values of nodes agree with those of the model, but the outputs are not what was "
        "expected of them. ";
  }
  found.note += "The reproducer is the whole graph, since no smaller part of it fails by itself" +
                colon(problem);
  return found;
}

}  // namespace

ReproducerSearch find_reproducer(const FailedRun& failed, const std::string& directory) {
  FoundPart found = find_part(failed);
  if (!found.part) return try_whole_graph(failed, found.problem, directory);
  try {
    ReproducerSearch search = write(*found.part, failed.settings, directory);
    if (!found.ends_at_divergence) {
      search.note = fmt::format(
          "No part of the graph that ends with '{}' fails by itself{}. The reproducer makes an "
          "output wrong",
          failed.divergence->node.value, colon(found.problem));
    }
    return search;
  } catch (const WeightError& error) {
    return try_whole_graph(failed, error.what(), directory);
  }
}

ReproducerSearch find_part_that_ends(const FailedRun& failed, const std::string& directory) {
  const FoundPart found = find_part(failed);
  const std::string cut =
      found.is_cut_short ? "The search was cut short, so that a smaller part may fail too" : "";
  if (!found.part || found.part->part.nodes.size() >= failed.ir.nodes.size()) {
    return {.note = found.is_cut_short
                        ? cut
                        : "No smaller part of the graph fails so by itself" + colon(found.problem)};
  }
  const IR& part = found.part->part.ir;
  ReproducerSearch search =
      whole_graph_reproducer(part, found.part->weights, found.part->values.inputs, /*expected=*/{},
                             failed.settings, /*message=*/"", directory);
  if (search.reproducer) search.note = cut;
  return search;
}

ReproducerSearch whole_graph_reproducer(const IR& ir, const StateDict& weights,
                                        const std::vector<at::Tensor>& inputs,
                                        const std::vector<at::Tensor>& expected,
                                        const RunSettings& settings, const std::string& message,
                                        const std::string& directory) {
  // A file has all outputs, but for what a run need not write to.
  bool has_expected = !expected.empty();
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i].defined() && ir.graph_outputs.at(i).mutates.empty()) has_expected = false;
  }
  try {
    write_reproducer(ir, used_weights(ir, weights), inputs,
                     has_expected ? expected : std::vector<at::Tensor>(), directory);
  } catch (const WeightError& error) {
    return {.note = fmt::format("No reproducer: {}", error.what())};
  }
  return {.reproducer = Reproducer{.num_nodes = static_cast<int64_t>(ir.nodes.size()),
                                   .first_node = ir.nodes.empty() ? "" : ir.nodes.front().name,
                                   .last_node = ir.nodes.empty() ? "" : ir.nodes.back().name,
                                   .command = whole_graph_command(has_expected, settings),
                                   .message = message}};
}

}  // namespace torch_ir
