#include "harness/divergence/reproducer.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "harness/backend/command_backend.h"
#include "harness/backend/open_backend.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/text.h"
#include "torch_ir/cases/graph_part.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/operators/operator_table.h"
#include "torch_ir/operators/random_state.h"

namespace torch_ir {
namespace {

// One run of the model: the values that enter and leave each part, and what a part must know of it.
class ModelRun {
 public:
  explicit ModelRun(const ExplainedGraph& graph) : graph_(graph) {
    // Where the run begins.
    at::manual_seed(graph.run.settings.seed);
    RandomState before;
    const auto observe = [&](const std::string& name, const at::Tensor& value) {
      if (value.defined()) facts_.add(name, value);
      const auto id = graph_.ids.find(name);
      if (id == graph_.ids.end()) return;
      const auto node = graph_.grouped.program[id->second].producer;
      if (node && may_draw(graph_.grouped.program.nodes[*node].target)) {
        if (before.has_moved()) random_nodes_.insert(*node);
        before = RandomState();
      }
      keep(id->second, value);
    };
    problem_ = error_of([&] { graph.run.observe_model(observe); }).value_or("");
  }

  // The error with which the model ended, if it did; the values before it are known.
  const std::string& problem() const { return problem_; }
  const RunFacts& facts() const { return facts_; }
  // Whether the node, by its number in the grouped graph, drew random numbers: in a part it would
  // draw others than in the whole graph.
  bool has_drawn(size_t node) const { return random_nodes_.contains(node); }
  // Whether the value is known, and a file can hold it.
  bool has(ValueId value) const { return kept_.contains(value); }

  // The part with its weights, and with the values that enter and leave it: inputs as they are
  // before its first node, which is node `first` of the grouped graph, contiguous; outputs as their
  // nodes leave them, but none if any is unknown. Nothing if an input is unknown.
  std::optional<Case> record(const GraphPart& part, size_t first) const {
    const Program& program = part.program;
    const auto is_known = [](const at::Tensor& tensor) { return tensor.defined(); };
    Case recorded = Case{.weights = graph_.run.graph_case.weights}.with(program);
    recorded.weights = used_weights(recorded);
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
  RunFacts facts_;
  std::set<size_t> random_nodes_;
  std::string problem_;
};

// The rule for the outputs of `part`, where outputs of `graph` keep their own tolerances.
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

std::string colon(const std::string& reason) { return reason.empty() ? "" : ": " + reason; }

constexpr const char* kCutShort = "The search was cut short, so a smaller part may fail too";

struct FailingPart {
  NodeRange range = {};
  Case content = {};
  GraphFailure failure = {};
};

class Search {
 public:
  explicit Search(const FailedRun& failed)
      : failed_(failed),
        run_(failed.graph.run),
        grouped_(failed.graph.grouped),
        program_(grouped_.program),
        model_(failed.graph),
        problem_(model_.problem()),
        is_shown_(program_.values.size()) {
    for (const ValueId value : grouped_.values) {
      // Whatever lies in memory that nothing has written to is right.
      const bool is_right = facts_of(program_.nodes[*program_[value].producer].target).makes_empty;
      is_shown_[value] = run_.threw() || (!is_right && model_.has(value));
    }
  }

  ReproducerSearch find() {
    // An error need not come from the diverged node.
    const bool has_end = failed_.divergence && !run_.threw();
    const bool is_at_end = has_end && grow(failed_.graph.id_of(failed_.divergence->node.value));
    const size_t num_spans = grouped_.spans.size();
    if (is_at_end || (num_spans > 0 && fails(0, num_spans - 1))) shrink();
    is_cut_short_ = must_stop();
    if (failed_.ended_process) return smaller_part();
    if (!smallest_) return whole_graph(problem_);
    const auto& [range, content, failure] = *smallest_;
    RunSettings settings = run_.settings;
    settings.tolerance = {.fixed = failure.tolerance};
    ReproducerSearch search;
    try {
      search.reproducer =
          write_reproducer(content, settings, run_.directory, failure.message, failure.actual);
    } catch (const WeightError& error) {
      return whole_graph(error.what());
    }
    if (is_cut_short_) {
      search.note = kCutShort;
    } else if (has_end && !is_at_end) {
      search.note = fmt::format(
          "No part of the graph that ends with '{}' fails by itself{}. The reproducer shows a "
          "wrong output instead",
          failed_.divergence->node.value, colon(problem_));
    }
    return search;
  }

 private:
  bool must_stop() const { return failed_.should_stop && failed_.should_stop(); }

  ReproducerSearch smaller_part() {
    const bool is_smaller =
        smallest_ && smallest_->content.program->nodes.size() < program_.nodes.size();
    if (!is_smaller && is_cut_short_) return {.note = kCutShort};
    if (!is_smaller) {
      return {.note =
                  "No smaller part of the graph fails the same way by itself" + colon(problem_)};
    }
    smallest_->content.expected.clear();
    ReproducerSearch search = whole_graph_reproducer(smallest_->content, run_.settings,
                                                     /*message=*/"", run_.directory);
    if (search.reproducer && is_cut_short_) search.note = kCutShort;
    return search;
  }

  // `problem` is why no smaller part is the reproducer.
  ReproducerSearch whole_graph(const std::string& problem) {
    Case whole = run_.graph_case;
    // Drops what files cannot store: the memory layout and sharing of tensors.
    for (at::Tensor& input : whole.inputs) {
      if (fits_a_file(input)) input = plain_copy(input);
    }
    if (run_.threw()) whole.expected = outputs_of_model();
    const auto failure = failed_.check(whole, run_.settings);
    if (!failure) {
      return {.note =
                  "No reproducer: the graph failed once, but not when it ran again on the same "
                  "inputs"};
    }
    RunSettings settings = run_.settings;
    // A command has one tolerance for all outputs.
    if (!settings.tolerance.outputs.empty()) settings.tolerance = {.fixed = failure->tolerance};
    ReproducerSearch search =
        whole_graph_reproducer(std::move(whole), settings, failure->message, run_.directory);
    if (!search.reproducer) return search;
    if (failed_.nodes_agree && !failure->threw) {
      search.note =
          "All node values agree with the model's, but the outputs differ from the expected "
          "ones. ";
    }
    search.note += is_cut_short_ ? kCutShort
                                 : "The reproducer is the whole graph, since no smaller part of it "
                                   "fails by itself" +
                                       colon(problem);
    return search;
  }

  std::vector<at::Tensor> outputs_of_model() const {
    try {
      at::manual_seed(run_.settings.seed);
      return run_.candidate.expected(run_.trial, run_.inputs());
    } catch (const std::exception&) {
      // Only the error can be reproduced then.
      return {};
    }
  }

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
                    .keeps_silent_nodes = run_.threw()};
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
    const bool is_output = std::ranges::find(program_.outputs, value) != program_.outputs.end();
    const bool is_read =
        std::ranges::any_of(made.readers, [&](uint32_t reader) { return reader > range.last; });
    return (is_output || made.readers.empty() || is_read) &&
           !memory.is_written(memory.of(value), *made.producer + 1, range.last + 1);
  }

  // Keeps the part if it fails.
  bool fails(const NodeRange& range) {
    const bool shows_nothing = range.outputs.empty() && !run_.threw();
    if (shows_nothing || must_stop()) return false;
    const GraphPart part = cut_part(grouped_, failed_.graph.grouped_memory, range, model_.facts());
    std::string problem = problem_of(part);
    const std::optional<Case> content =
        problem.empty() ? model_.record(part, range.first) : std::nullopt;
    // Failing with an error needs no expected outputs.
    const bool is_known =
        content && (run_.threw() || content->expected.size() == part.program.outputs.size());
    if (problem.empty() && !is_known) {
      problem = fmt::format("not all values that node '{}' needs can be stored in a file",
                            program_.nodes[range.first].name);
    }
    if (problem_.empty()) problem_ = problem;
    if (!problem.empty()) return false;
    RunSettings settings = run_.settings;
    settings.tolerance = part_tolerance(settings.tolerance, program_, part.program);
    const std::optional<GraphFailure> failure = failed_.check(*content, settings);
    // The part must fail as the run did: with or without an error, and with the same end of the
    // command.
    if (!failure || failure->threw != run_.threw()) return false;
    if (smallest_ && failure->command_end != smallest_->failure.command_end) return false;
    smallest_ = {.range = range, .content = *content, .failure = *failure};
    return true;
  }

  // Why the part cannot run alone; empty if it can.
  std::string problem_of(const GraphPart& part) const {
    if (!part.problem.empty()) return part.problem;
    for (const size_t index : part.nodes) {
      if (!model_.has_drawn(index)) continue;
      return fmt::format("node '{}' draws random numbers", program_.nodes[index].name);
    }
    const std::vector<std::string> problems = find_problems(to_ir(part.program));
    return problems.empty() ? "" : problems.front();
  }

  const FailedRun& failed_;
  const ExplainedRun& run_;
  const GroupedGraph& grouped_;
  const Program& program_;
  const ModelRun model_;
  // Why a range could not be run alone (the first such reason); may be empty.
  std::string problem_;
  // By value: whether it is compared.
  std::vector<bool> is_shown_;
  // The smallest part so far, and its range.
  std::optional<FailingPart> smallest_;
  size_t first_ = 0;
  size_t last_ = 0;
  bool is_cut_short_ = false;
};

std::optional<GraphFailure> find_failure(Backend& backend, Case graph_case,
                                         const RunSettings& settings) {
  const Program& program = *graph_case.program;
  const std::vector<ValueId>& outputs = program.outputs;
  std::vector<at::Tensor>& expected = graph_case.expected;
  expected.resize(outputs.size());
  const auto failure_of_all = [&](std::string message, bool threw) {
    GraphFailure failure{.message = std::move(message), .threw = threw};
    if (outputs.empty()) return failure;
    const at::Tensor& last = expected.back();
    failure.output = program[outputs.back()].name;
    failure.tolerance = tolerance_for(settings.tolerance, outputs.size() - 1,
                                      last.defined() ? last.scalar_type() : c10::kFloat);
    return failure;
  };
  std::vector<at::Tensor> actual;
  try {
    at::manual_seed(settings.seed);
    actual = run_on(backend, graph_case);
  } catch (const OutputError&) {
    throw;
  } catch (const CommandFailure& error) {
    GraphFailure failure = failure_of_all(message_text(error), /*threw=*/true);
    failure.command_end = error.end().description;
    return failure;
  } catch (const std::exception& error) {
    return failure_of_all(message_text(error), /*threw=*/true);
  }
  if (actual.size() != outputs.size()) {
    return failure_of_all(
        fmt::format("{}, expected {}", counted(std::ssize(actual), "output"), outputs.size()),
        /*threw=*/false);
  }
  const VerificationReport report =
      judge_run(run_to_judge(backend, graph_case, actual, settings.seed), settings.tolerance,
                criterion_of(settings));
  if (report.is_valid) return std::nullopt;
  const auto wrong = std::ranges::find_if(
      report.output_details, [](const ValueDetail& detail) { return !detail.problem.empty(); });
  if (wrong == report.output_details.end()) {
    return failure_of_all(report.error_message, /*threw=*/false);
  }
  return GraphFailure{.output = wrong->value,
                      .tolerance = wrong->tolerance,
                      .message = fmt::format("'{}': {}", wrong->value, wrong->problem),
                      .actual = std::move(actual)};
}

}  // namespace

GraphRun run_to_judge(Backend& backend, const Case& graph_case,
                      const std::vector<at::Tensor>& outputs, uint64_t seed) {
  GraphRun run{.graph_case = graph_case, .outputs = outputs};
  run.rerun = [&backend, seed](const Case& other) {
    at::manual_seed(seed);
    return run_on(backend, other);
  };
  run.run_eagerly = [&graph_case, seed] {
    at::manual_seed(seed);
    return eager_outputs(graph_case);
  };
  run.describe = [](const std::exception& error) {
    if (dynamic_cast<const OutputError*>(&error) != nullptr) throw;
    return message_text(error);
  };
  return run;
}

GraphCheck check_on(Backend& backend) { return std::bind_front(find_failure, std::ref(backend)); }

void add_sentence(std::string& note, const std::string& sentence) {
  if (sentence.empty()) return;
  note += (note.empty() ? "" : " ") + sentence + (sentence.ends_with('.') ? "" : ".");
}

ReproducerSearch find_reproducer(const FailedRun& failed) { return Search(failed).find(); }

ReproducerSearch whole_graph_reproducer(Case graph_case, const RunSettings& settings,
                                        const std::string& message, const std::string& directory) {
  std::vector<at::Tensor>& expected = graph_case.expected;
  // The file has all outputs, except those that a run need not write to.
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i].defined() && graph_case.program->find_mutation(i) == nullptr) expected.clear();
  }
  try {
    return {.reproducer = write_reproducer(graph_case, settings, directory, message)};
  } catch (const WeightError& error) {
    return {.note = fmt::format("No reproducer: {}", error.what())};
  }
}

}  // namespace torch_ir
