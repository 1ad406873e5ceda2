#include "harness/divergence/reproducer.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <numeric>
#include <set>
#include <unordered_map>
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

// The values of a graph as one run of its model makes them.
class BorderValues {
 public:
  BorderValues(const ExplainedRun& run, ExplainedGraph& graph) : graph_(graph) {
    try {
      graph.watch.run(run.candidate, run.inputs(), run.settings.seed,
                      [&](const std::string& name, const at::Tensor& value) {
                        if (const auto id = graph.find(name)) keep(*id, value);
                      });
    } catch (const OutputError&) {
      throw;
    } catch (const std::exception& error) {
      problem_ = message_text(error);
    }
  }

  // The error with which the model ended, if it did; the values before it are known.
  const std::string& problem() const { return problem_; }

  // Whether the value is known, and a file can hold it.
  bool has(ValueId value) const { return kept_.contains(value); }

  // The part with its weights, and with the values that enter and leave it: inputs as they are
  // before its first node, which is node `first` of the grouped graph, contiguous; outputs as their
  // nodes leave them, but none if any is unknown. Nothing if an input is unknown.
  std::optional<Case> record(const GraphPart& part, size_t first) const {
    const Program& program = part.program;
    const auto is_known = [](const at::Tensor& tensor) { return tensor.defined(); };
    Case recorded = part_case(graph_, part);
    for (const ValueId input : program.user_inputs()) {
      recorded.inputs.push_back(before(program[input].name, first));
    }
    if (!std::ranges::all_of(recorded.inputs, is_known)) return std::nullopt;
    for (const ValueId output : program.outputs) {
      recorded.expected.push_back(before(program[output].name, 0));
    }
    if (!std::ranges::all_of(recorded.expected, is_known)) recorded.expected.clear();
    return recorded;
  }

 private:
  struct Kept {
    // As the model holds it.
    at::Tensor value = {};
    // The value as made, and copies of it after nodes that write to it, by number of the node.
    std::vector<std::pair<size_t, at::Tensor>> versions = {};
  };

  void keep(ValueId id, const at::Tensor& value) {
    const GraphMemory& memory = graph_.grouped_memory;
    if (const auto node = graph_.grouped.program[id].producer) {
      for (const size_t written : memory.written_by(*node)) copy_again(written, *node);
    }
    if (!fits_a_file(value)) return;
    kept_[id] = {.value = value,
                 .versions = {{0, memory.is_written(id) ? plain_copy(value) : value}}};
  }

  // Node `writer` may have written to values in `memory`. Copies those that a later node reads.
  void copy_again(size_t memory, size_t writer) {
    for (auto& [value, kept] : kept_) {
      const bool is_read = std::ranges::any_of(graph_.grouped.program[value].readers,
                                               [&](uint32_t reader) { return reader > writer; });
      if (!is_read || graph_.grouped_memory.of(value) != memory) continue;
      kept.versions.emplace_back(writer, plain_copy(kept.value));
    }
  }

  // Undefined if unknown.
  at::Tensor before(const std::string& name, size_t node) const {
    const auto found = kept_.find(graph_.id_of(name));
    if (found == kept_.end()) return {};
    const auto& versions = found->second.versions;
    const at::Tensor* last = &versions.front().second;
    for (const auto& [writer, version] : versions) {
      if (writer < node) last = &version;
    }
    return plain_copy(*last);
  }

  const ExplainedGraph& graph_;
  std::unordered_map<ValueId, Kept> kept_;
  std::string problem_;
};

struct FailingPart {
  NodeRange range = {};
  Case content = {};
  GraphFailure failure = {};
};

struct FoundPart {
  std::optional<FailingPart> part = std::nullopt;
  // Whether the part ends where the values first differ, if they do.
  bool ends_at_divergence = true;
  // Why a range could not be run alone (the first such reason); may be empty.
  std::string problem = {};
  bool is_cut_short = false;
};

class Search {
 public:
  explicit Search(const FailedRun& failed)
      : failed_(failed),
        grouped_(failed.graph.grouped),
        program_(grouped_.program),
        borders_(failed.run, failed.graph),
        problem_(borders_.problem()),
        is_shown_(program_.values.size()),
        is_output_(program_.values.size()) {
    for (const ValueId output : program_.outputs) is_output_[output] = true;
    for (const ValueId value : grouped_.values) {
      // Whatever lies in memory that nothing has written to is right.
      const bool is_right = facts_of(program_.nodes[*program_[value].producer].target).makes_empty;
      is_shown_[value] = failed.run.threw() || (!is_right && borders_.has(value));
    }
  }

  FoundPart run() {
    // An error need not come from the diverged node.
    const bool has_end = failed_.divergence && !failed_.run.threw();
    const bool is_at_end = has_end && grow(failed_.graph.id_of(failed_.divergence->node.value));
    const size_t num_spans = grouped_.spans.size();
    if (is_at_end || (num_spans > 0 && fails(0, num_spans - 1))) shrink();
    return {.part = std::move(smallest_),
            .ends_at_divergence = is_at_end || !has_end,
            .problem = std::move(problem_),
            .is_cut_short = must_stop()};
  }

 private:
  bool must_stop() const { return failed_.should_stop && failed_.should_stop(); }

  // Ranges here count spans. Looks for a range that fails and ends where `value` is made.
  bool grow(ValueId value) {
    const size_t last = grouped_.span_of[program_[value].producer.value()];
    for (size_t length = 1; !fails(last + 1 - length, last);
         length = std::min(2 * length, last + 1)) {
      if (length == last + 1) return false;
    }
    return true;
  }

  // Makes the range that failed as small as possible; a range that contains a failing one fails.
  void shrink() {
    size_t middle = 0;
    do {
      middle = std::midpoint(first_, last_);
    } while (first_ != last_ && (fails(first_, middle) || fails(middle + 1, last_)));
    // Neither half fails without the other.
    for (size_t too_short = middle; last_ > too_short + 1;) {
      const size_t last = std::midpoint(too_short, last_);
      if (!fails(first_, last)) too_short = last;
    }
    for (size_t too_late = middle + 1; too_late > first_ + 1;) {
      const size_t first = std::midpoint(first_, too_late);
      if (!fails(first, last_)) too_late = first;
    }
    // One output shows the failure, unless the others contribute to it.
    if (smallest_->range.outputs.size() < 2) return;
    NodeRange range = smallest_->range;
    range.outputs = {failed_.graph.id_of(smallest_->failure.output)};
    fails(range);
  }

  bool fails(size_t first, size_t last) {
    NodeRange range{.first = grouped_.spans[first].first,
                    .last = grouped_.spans[last].last,
                    // A run throws even if nothing reads its values.
                    .keeps_silent_nodes = failed_.run.threw()};
    for (size_t i = range.first; i <= range.last; ++i) {
      std::ranges::copy_if(program_.nodes[i].outputs, std::back_inserter(range.outputs),
                           [&](ValueId value) { return is_shown_[value] && leaves(value, range); });
    }
    if (!fails(range)) return false;
    first_ = first;
    last_ = last;
    return true;
  }

  // Whether the value leaves the nodes of the range, and as its node made it.
  bool leaves(ValueId value, const NodeRange& range) const {
    const Value& made = program_[value];
    const GraphMemory& memory = failed_.graph.grouped_memory;
    const bool is_read =
        std::ranges::any_of(made.readers, [&](uint32_t reader) { return reader > range.last; });
    return (is_output_[value] || made.readers.empty() || is_read) &&
           !memory.is_written(memory.of(value), *made.producer + 1, range.last + 1);
  }

  // Keeps the part if it fails.
  bool fails(const NodeRange& range) {
    const bool shows_nothing = range.outputs.empty() && !failed_.run.threw();
    if (shows_nothing || must_stop()) return false;
    const GraphPart part = failed_.graph.cutter.cut(range, failed_.graph.watch.facts());
    std::string problem = problem_of(part);
    const std::optional<Case> content =
        problem.empty() ? borders_.record(part, range.first) : std::nullopt;
    // Failing with an error needs no expected outputs.
    const bool is_known =
        content && (failed_.run.threw() || content->expected.size() == part.program.outputs.size());
    if (problem.empty() && !is_known) {
      problem = fmt::format("not all values that node '{}' needs can be stored in a file",
                            program_.nodes[range.first].name);
    }
    if (problem_.empty()) problem_ = problem;
    if (!problem.empty()) return false;
    RunSettings settings = failed_.run.settings;
    settings.tolerance = part_tolerance(settings.tolerance, failed_.run.program(), part.program);
    const std::optional<GraphFailure> failure = failed_.check(*content, settings);
    // The part must fail as the run did: with or without an error, and with the same end of the
    // command.
    if (!failure || failure->threw != failed_.run.threw()) return false;
    if (smallest_ && failure->command_end != smallest_->failure.command_end) return false;
    smallest_ = {.range = range, .content = *content, .failure = *failure};
    return true;
  }

  // Why the part cannot run alone; empty if it can.
  std::string problem_of(const GraphPart& part) const {
    const std::set<size_t>& random = failed_.graph.watch.random_nodes();
    for (const size_t index : part.nodes) {
      if (!part.problem.empty() || !random.contains(grouped_.original[index])) continue;
      return fmt::format("node '{}' draws random numbers", program_.nodes[index].name);
    }
    if (!part.problem.empty()) return part.problem;
    const std::vector<std::string> problems = find_problems(to_ir(part.program));
    return problems.empty() ? "" : problems.front();
  }

  const FailedRun& failed_;
  const GroupedGraph& grouped_;
  const Program& program_;
  const BorderValues borders_;
  std::string problem_;
  // By value: whether it is compared, and whether the graph returns it.
  std::vector<bool> is_shown_;
  std::vector<bool> is_output_;
  // The smallest part so far, and its range.
  std::optional<FailingPart> smallest_;
  size_t first_ = 0;
  size_t last_ = 0;
};

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

constexpr const char* kCutShort = "The search was cut short, so a smaller part may fail too";

ReproducerSearch try_whole_graph(const FailedRun& failed, const FoundPart& found,
                                 const std::string& problem) {
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
  ReproducerSearch search =
      whole_graph_reproducer(std::move(whole), settings, failure->message, run.directory);
  if (!search.reproducer) return search;
  if (failed.nodes_agree && !failure->threw) {
    search.note =
        "All node values agree with the model's, but the outputs differ from the expected ones. ";
  }
  search.note += found.is_cut_short ? kCutShort
                                    : "The reproducer is the whole graph, since no smaller part of "
                                      "it fails by itself" +
                                          colon(problem);
  return search;
}

}  // namespace

ReproducerSearch find_reproducer(const FailedRun& failed) {
  const FoundPart found = Search(failed).run();
  if (!found.part) return try_whole_graph(failed, found, found.problem);
  const auto& [range, content, failure] = *found.part;
  try {
    write_reproducer(content, failed.run.directory, failure.actual);
  } catch (const WeightError& error) {
    return try_whole_graph(failed, found, error.what());
  }
  RunSettings settings = failed.run.settings;
  settings.tolerance = {.fixed = failure.tolerance};
  const std::string command = reproducer_command(!content.expected.empty(), settings);
  ReproducerSearch search{.reproducer = describe(*content.program, command, failure.message)};
  if (found.is_cut_short) {
    search.note = kCutShort;
  } else if (!found.ends_at_divergence) {
    search.note = fmt::format(
        "No part of the graph that ends with '{}' fails by itself{}. The reproducer shows a wrong "
        "output instead",
        failed.divergence->node.value, colon(found.problem));
  }
  return search;
}

ReproducerSearch find_part_that_ends(const FailedRun& failed) {
  const FoundPart found = Search(failed).run();
  const std::string cut = found.is_cut_short ? kCutShort : "";
  const size_t num_nodes = failed.run.program().nodes.size();
  if (!found.part || found.part->content.program->nodes.size() >= num_nodes) {
    const std::string none = "No smaller part of the graph fails the same way by itself";
    return {.note = found.is_cut_short ? cut : none + colon(found.problem)};
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
              describe(program, reproducer_command(!expected.empty(), settings), message)};
}

}  // namespace torch_ir
