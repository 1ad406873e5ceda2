#include "harness/divergence/reproducer.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "harness/divergence/reproducer_files.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/tolerance.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/verifier/compare_nodes.h"

namespace torch_ir {

StateDict used_weights(const Case& graph_case) {
  const Program& program = *graph_case.program;
  StateDict used;
  for (const GraphInput& input : program.inputs) {
    if (input.kind == InputKind::kUserInput || used.contains(input.target)) continue;
    const at::Tensor* weight = graph_case.weights.find(input.target);
    if (weight == nullptr) weight = graph_case.weights.find(program[input.value].name);
    if (weight != nullptr) used.insert(input.target, *weight);
  }
  return used;
}

ToleranceRule part_tolerance(const ToleranceRule& whole, const Graph& graph, const Graph& part) {
  ToleranceRule rule = whole;
  rule.outputs.clear();
  for (size_t i = 0; i < part.outputs.size(); ++i) {
    for (const auto& [index, tolerance] : whole.outputs) {
      const bool is_known = index < graph.outputs.size();
      if (!is_known || graph[graph.outputs[index]].name != part[part.outputs[i]].name) continue;
      rule.outputs.emplace(i, tolerance);
    }
  }
  return rule;
}

namespace {

// Finds where `is_bad` begins to hold between `good` and `bad`, which may be in either order.
template <class Predicate>
size_t bisect(size_t good, size_t bad, const Predicate& is_bad) {
  while (std::max(good, bad) - std::min(good, bad) > 1) {
    const size_t middle = std::midpoint(good, bad);
    (is_bad(middle) ? bad : good) = middle;
  }
  return bad;
}

struct FailingPart {
  NodeRange range;
  GraphPart part;
  Case content = {};
  GraphFailure failure = {};
};

class Search {
 public:
  explicit Search(const FailedRun& failed)
      : failed_(failed), grouped_(failed.graph.grouped), program_(grouped_.program) {
    for (size_t i = 0; i < program_.nodes.size(); ++i) {
      // An error may come from a node that returns nothing.
      if (failed.run.threw() && program_.nodes[i].outputs.empty()) {
        values_.try_emplace(grouped_.span_of[i]);
      }
    }
    for (const ValueId value : grouped_.values) {
      // Whatever lies in memory that nothing has written to is right.
      const Node& node = program_.nodes[*program_[value].producer];
      const bool is_right = facts_of(node.target).makes_empty && !failed.run.threw();
      if (!is_right) values_[span_making(value)].push_back(value);
    }
  }

  // An error need not come from the diverged node.
  std::optional<FailingPart> run_from_divergence() {
    if (!failed_.divergence || failed_.run.threw()) return std::nullopt;
    const ValueId value = failed_.graph.id_of(failed_.divergence->node.value);
    const size_t span = span_making(value);
    return find_smallest({span, span, {value}});
  }

  std::optional<FailingPart> run_from_outputs() {
    const std::optional<size_t> end = find_end();
    return end ? find_smallest(make_range(*end, *end)) : std::nullopt;
  }

  // Why a range could not be run alone (the first such reason); may be empty.
  const std::string& problem() const { return problem_; }

  const std::optional<FailingPart>& smallest() const { return smallest_; }

 private:
  size_t span_making(ValueId value) const {
    return grouped_.span_of[program_[value].producer.value()];
  }

  // Ranges here count spans: [first, last], with the values to compare. A wrong value stays wrong
  // after its node. A run throws even if nothing reads its values, so its range keeps all nodes.
  NodeRange make_range(size_t first, size_t last) const {
    if (!failed_.run.threw()) return {first, last, values_.at(last)};
    const auto is_read = [&](ValueId value) {
      return std::ranges::any_of(program_[value].readers, [&](uint32_t reader) {
        return grouped_.span_of[reader] >= first && grouped_.span_of[reader] <= last;
      });
    };
    NodeRange range{.first = first, .last = last, .keeps_silent_nodes = true};
    for (auto it = values_.lower_bound(first); it != values_.upper_bound(last); ++it) {
      for (const ValueId value : it->second) {
        if (it->first == last || !is_read(value)) range.outputs.push_back(value);
      }
    }
    return range;
  }

  NodeRange beginning_at(size_t first, const NodeRange& range) const {
    if (failed_.run.threw()) return make_range(first, range.last);
    return {first, range.last, range.outputs};
  }

  // The first node such that the graph fails when run up to it; nothing if that does not reproduce
  // the failure. The failure carries on to the outputs, so bisection applies.
  std::optional<size_t> find_end() {
    const std::optional<size_t> wrong = find_wrong_end();
    if (!wrong) return std::nullopt;
    std::vector<size_t> ends;
    for (const auto& [end, values] : values_) {
      if (end <= *wrong) ends.push_back(end);
    }
    const auto fails_at = [&](size_t i) { return fails(make_range(0, ends[i])); };
    return ends[fails_at(0) ? 0 : bisect(0, ends.size() - 1, fails_at)];
  }

  std::optional<size_t> find_wrong_end() {
    std::vector<size_t> ends;
    if (failed_.run.threw()) {
      if (!values_.empty()) ends = {values_.rbegin()->first};
    } else {
      NodeRange all;
      for (const ValueId output : program_.outputs) {
        if (!program_[output].producer || !values_.contains(span_making(output))) continue;
        ends.push_back(span_making(output));
        all.last = std::max(all.last, ends.back());
        all.outputs.push_back(output);
      }
      // Tries all outputs at once first: one by one takes long if many of them are right.
      if (ends.size() > 1) {
        if (const std::optional<FailingPart> together = try_range(all)) {
          ends.insert(ends.begin(), span_making(failed_.graph.id_of(together->failure.output)));
        } else if (problem_.empty()) {
          return std::nullopt;
        }
      }
    }
    const auto wrong =
        std::ranges::find_if(ends, [&](size_t end) { return fails(make_range(0, end)); });
    return wrong == ends.end() ? std::nullopt : std::optional(*wrong);
  }

  std::optional<FailingPart> find_smallest(const NodeRange& range) {
    std::optional<FailingPart> smallest = try_range(range);
    if (!smallest) smallest = grow(range);
    if (!smallest) return std::nullopt;
    shrink_end(*smallest);
    if (smallest->range.outputs.size() < 2) return smallest;
    // One output shows the failure, unless the others contribute to it.
    NodeRange single = smallest->range;
    single.outputs = {failed_.graph.id_of(smallest->failure.output)};
    std::optional<FailingPart> with_one = try_range(single);
    return with_one ? with_one : smallest;
  }

  // Moves the beginning of `range` back until it fails, then forward as far as it still does.
  std::optional<FailingPart> grow(const NodeRange& range) {
    std::optional<FailingPart> failing;
    const auto fails_from = [&](size_t first) {
      std::optional<FailingPart> found = try_range(beginning_at(first, range));
      if (found) failing = std::move(found);
      return failing && failing->range.first == first;
    };
    size_t good = range.first;
    for (size_t length = 2; good > 0; length *= 2) {
      const size_t first = range.last + 1 > length ? range.last + 1 - length : 0;
      if (fails_from(first)) {
        bisect(good, first, fails_from);
        break;
      }
      good = first;
    }
    return failing;
  }

  void shrink_end(FailingPart& smallest) {
    const size_t first = smallest.range.first;
    for (size_t last = smallest.range.last; last-- > first;) {
      if (!values_.contains(last)) continue;
      std::optional<FailingPart> shorter = try_range(make_range(first, last));
      if (!shorter) return;
      smallest = std::move(*shorter);
    }
  }

  bool fails(const NodeRange& range) { return try_range(range).has_value(); }

  std::optional<FailingPart> try_range(const NodeRange& range) {
    NodeRange nodes = range;
    nodes.first = grouped_.spans[range.first].first;
    nodes.last = grouped_.spans[range.last].last;
    FailingPart failing{.range = range,
                        .part = failed_.graph.cutter.cut(nodes, failed_.graph.watch.facts())};
    if (!can_run_alone(failing.part)) return std::nullopt;
    const auto recorded = record_part(failed_.run, failed_.graph, failing.part, nodes.first);
    const bool is_known =
        recorded && recorded->expected.size() == failing.part.program.outputs.size();
    // Failing with an error needs no expected outputs.
    if (!recorded || (!is_known && !failed_.run.threw())) {
      note(fmt::format("not all values that node '{}' needs can be stored in a file",
                       program_.nodes[nodes.first].name));
      return std::nullopt;
    }
    failing.content = *recorded;
    if (!run(failing)) return std::nullopt;
    if (!smallest_ || failing.part.nodes.size() < smallest_->part.nodes.size()) smallest_ = failing;
    return failing;
  }

  bool can_run_alone(GraphPart& part) {
    for (const size_t index : part.nodes) {
      const bool is_random = failed_.graph.watch.random_nodes().contains(grouped_.original[index]);
      if (!is_random || !part.problem.empty()) continue;
      part.problem = fmt::format("node '{}' draws random numbers", program_.nodes[index].name);
    }
    if (part.problem.empty()) {
      const std::vector<std::string> problems = find_problems(to_ir(part.program));
      if (!problems.empty()) part.problem = problems.front();
    }
    note(part.problem);
    return part.problem.empty();
  }

  void note(const std::string& problem) {
    if (problem_.empty()) problem_ = problem;
  }

  // The part must fail as the run did: with or without an error, and with the same end of the
  // command.
  bool run(FailingPart& failing) {
    RunSettings settings = failed_.run.settings;
    settings.tolerance =
        part_tolerance(settings.tolerance, failed_.run.program(), failing.part.program);
    const auto failure = failed_.check(failing.content, settings);
    if (!failure || failure->threw != failed_.run.threw()) return false;
    if (!command_end_) command_end_ = failure->command_end;
    if (failure->command_end != *command_end_) return false;
    failing.failure = *failure;
    return true;
  }

  const FailedRun& failed_;
  const GroupedGraph& grouped_;
  const Program& program_;
  // The values to compare of a span.
  std::map<size_t, std::vector<ValueId>> values_;
  std::string problem_;
  // The end of the first failing part, which is the graph up to the last value.
  std::optional<std::string> command_end_;
  std::optional<FailingPart> smallest_;
};

struct FoundPart {
  std::optional<FailingPart> part = std::nullopt;
  // Whether the part ends where the values first differ, if they do.
  bool ends_at_divergence = true;
  std::string problem = {};
  bool is_cut_short = false;
};

// Errors of the model only end the search.
FoundPart find_part(const FailedRun& failed) {
  Search search(failed);
  FoundPart found;
  try {
    found.part = search.run_from_divergence();
    if (!found.part) {
      found.ends_at_divergence = !failed.divergence || failed.run.threw();
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

Reproducer describe(const Graph& graph, const std::string& command, const std::string& message) {
  const std::vector<Node>& nodes = graph.nodes;
  return {.num_nodes = std::ssize(nodes),
          .first_node = nodes.empty() ? "" : nodes.front().name,
          .last_node = nodes.empty() ? "" : nodes.back().name,
          .command = command,
          .message = message};
}

std::vector<at::Tensor> expected_outputs(const ExplainedRun& run) {
  if (!run.threw()) return run.graph_case.expected;
  try {
    at::manual_seed(run.settings.seed);
    return run.candidate.expected(run.trial, run.inputs());
  } catch (const std::exception&) {
    // Only the error can be reproduced then.
    return {};
  }
}

// Drops what files cannot store: the memory layout and sharing of tensors.
std::vector<at::Tensor> as_in_files(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> plain;
  for (const at::Tensor& tensor : tensors) {
    plain.push_back(fits_a_file(tensor) ? plain_copy(tensor) : tensor);
  }
  return plain;
}

std::string colon(const std::string& reason) { return reason.empty() ? "" : ": " + reason; }

ReproducerSearch try_whole_graph(const FailedRun& failed, const std::string& problem) {
  const ExplainedRun& run = failed.run;
  Case whole = failed.graph.graph_case;
  whole.weights = used_weights(whole);
  whole.inputs = as_in_files(run.inputs());
  whole.expected = expected_outputs(run);
  const auto failure = failed.check(whole, run.settings);
  if (!failure) {
    return {.note =
                "No reproducer: the graph failed once, but not when it ran again on the same "
                "inputs"};
  }
  RunSettings settings = run.settings;
  // A command has one tolerance for all outputs.
  if (!settings.tolerance.outputs.empty()) settings.tolerance = {.fixed = failure->tolerance};
  ReproducerSearch found =
      whole_graph_reproducer(std::move(whole), settings, failure->message, run.directory);
  if (!found.reproducer) return found;
  const bool is_unexplained = failed.nodes_agree && !failure->threw;
  if (is_unexplained) {
    found.note =
        "All node values agree with the model's, but the outputs differ from the expected ones. ";
  }
  found.note += "The reproducer is the whole graph, since no smaller part of it fails by itself" +
                colon(problem);
  return found;
}

}  // namespace

ReproducerSearch find_reproducer(const FailedRun& failed) {
  const FoundPart found = find_part(failed);
  if (!found.part) return try_whole_graph(failed, found.problem);
  const auto& [range, part, content, failure] = *found.part;
  try {
    write_reproducer(content, failed.run.directory);
  } catch (const WeightError& error) {
    return try_whole_graph(failed, error.what());
  }
  const std::string command =
      reproducer_command(!content.weights.is_empty(), failure.tolerance, failed.run.settings);
  ReproducerSearch search{.reproducer = describe(part.program, command, failure.message)};
  if (!found.ends_at_divergence) {
    search.note = fmt::format(
        "No part of the graph that ends with '{}' fails by itself{}. The reproducer shows a wrong "
        "output instead",
        failed.divergence->node.value, colon(found.problem));
  }
  return search;
}

ReproducerSearch find_part_that_ends(const FailedRun& failed) {
  const FoundPart found = find_part(failed);
  const std::string cut =
      found.is_cut_short ? "The search was cut short, so a smaller part may fail too" : "";
  if (!found.part || found.part->part.nodes.size() >= failed.run.program().nodes.size()) {
    return {.note = found.is_cut_short
                        ? cut
                        : "No smaller part of the graph fails the same way by itself" +
                              colon(found.problem)};
  }
  Case part = found.part->content;
  part.expected.clear();
  ReproducerSearch search = whole_graph_reproducer(std::move(part), failed.run.settings,
                                                   /*message=*/"", failed.run.directory);
  if (search.reproducer) search.note = cut;
  return search;
}

ReproducerSearch whole_graph_reproducer(Case graph_case, const RunSettings& settings,
                                        const std::string& message, const std::string& directory) {
  const Program& program = *graph_case.program;
  std::vector<at::Tensor>& expected = graph_case.expected;
  // The file has all outputs, except those that a run need not write to.
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i].defined() && program.find_mutation(i) == nullptr) expected.clear();
  }
  graph_case.weights = used_weights(graph_case);
  try {
    write_reproducer(graph_case, directory);
  } catch (const WeightError& error) {
    return {.note = fmt::format("No reproducer: {}", error.what())};
  }
  return {.reproducer =
              describe(program, whole_graph_command(!expected.empty(), settings), message)};
}

}  // namespace torch_ir
