#include "harness/divergence/node_comparison.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "harness/backend/open_backend.h"
#include "harness/backend/windowed_values.h"
#include "harness/divergence/value_form.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/cases/graph_part.h"
#include "torch_ir/ir/module_paths.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/random_state.h"
#include "torch_ir/runtime/graph/state.h"
#include "torch_ir/verifier/judge.h"
#include "torch_ir/verifier/rounding.h"
#include "torch_ir/weights/safetensors_writer.h"

namespace torch_ir {
namespace {

// The backend's values, with their own random generator: both sides draw as if each ran alone.
class BackendValues {
 public:
  template <class Open>
  BackendValues(uint64_t seed, const Open& open) {
    const RandomStateGuard outer;
    at::manual_seed(seed);
    values_ = open();
    state_ = RandomState();
  }

  at::Tensor next(const std::string& name) {
    const RandomStateGuard outer;
    state_.restore();
    at::Tensor value = values_->next(name);
    state_ = RandomState();
    return value;
  }

  bool has_values() const { return values_ != nullptr; }
  std::vector<std::string> unknown() const { return values_->unknown(); }

 private:
  RandomState state_;
  std::unique_ptr<NodeValues> values_;
};

// The values of `values` from a run of the graph in which they are outputs. The graph's own outputs
// are kept, so that it stays the same graph.
std::vector<at::Tensor> run_showing(Backend& backend, const Case& graph_case, uint64_t seed,
                                    std::span<const ValueId> values) {
  const Program& program = *graph_case.program;
  const size_t num_own = program.outputs.size() - static_cast<size_t>(num_state(program));
  std::unordered_map<ValueId, size_t> places;
  for (size_t i = 0; i < num_own; ++i) places.emplace(program.outputs[i], i);
  std::vector<ValueId> added;
  for (const ValueId value : values) {
    if (places.emplace(value, num_own + added.size()).second) added.push_back(value);
  }
  at::manual_seed(seed);
  const std::vector<at::Tensor> results =
      run_on(backend, graph_case.with(with_outputs(program, added)));
  const size_t num_outputs = program.outputs.size() + added.size();
  if (results.size() != num_outputs) {
    throw ExecutionError(
        fmt::format("wrong number of outputs: {}, expected {}", results.size(), num_outputs));
  }
  std::vector<at::Tensor> shown;
  for (const ValueId value : values) shown.push_back(results[places.at(value)]);
  return shown;
}

// Values of nodes from a backend that only runs whole graphs: values become outputs. Leaves out
// those that the graph later writes to, since they no longer hold what their node computed. The
// arguments outlive the result.
std::unique_ptr<NodeValues> whole_run_values(Backend& backend, const ExplainedGraph& graph,
                                             uint64_t seed) {
  std::vector<ValueId> lasting = graph.grouped.values;
  std::erase_if(lasting, [&](ValueId value) {
    return graph.memory.is_written(graph.memory.of(value),
                                   graph.program[value].producer.value() + 1,
                                   graph.program.nodes.size());
  });
  // A run of an executor may take long.
  constexpr int64_t kMostBytes = int64_t{256} << 20;
  return std::make_unique<WindowedValues>(
      graph.program, std::move(lasting), kMostBytes, [&, seed](std::span<const ValueId> values) {
        return run_showing(backend, graph.run.graph_case, seed, values);
      });
}

// A comparison of the values of the model and the backend.
struct ComparedRuns {
  NodeReport report = {};
  // Values, in order, that the model has but the backend left out.
  std::vector<std::string> missing = {};
  // Of the values that the backend returned, by name.
  std::unordered_map<std::string, TensorStatistics> returned = {};
  // The returned values, if they are to be kept.
  std::unique_ptr<SafetensorsWriter> kept = nullptr;
};

class Explainer {
 public:
  Explainer(const ExplainedRun& run, Backend& backend, bool failed)
      : run_(run),
        settings_(run.settings),
        backend_(backend),
        failed_(failed),
        graph_(run),
        grouped_(graph_.grouped),
        computable_(computable_part(graph_.program)),
        computable_case_(run.graph_case.with(without_uncomputable(graph_.program, computable_))) {}

  NodeReport compare() {
    ComparedRuns runs = compare_once();
    NodeReport& report = runs.report;
    const bool ended = report.error.empty();
    if (runs_whole_) {
      add_sentence(report.note, fmt::format("To see the values, the graph ran with {} as outputs",
                                            shown_values()));
    } else if (ended && report.num_compared == 0 && !runs.missing.empty()) {
      runs_whole_ = true;
      runs = compare_once();
      add_sentence(report.note,
                   fmt::format("The {} returned no values of nodes; to see them, the graph "
                               "ran with {} as outputs",
                               executor_name(), shown_values()));
    } else if (ended && failed_ && !report.first_divergence && !runs_part()) {
      look_for_difference(runs);
    }
    if (runs.kept) write_output([&] { runs.kept->commit(); });
    if (report.first_divergence) {
      note_missing(runs);
      add_inputs(runs);
    }
    add_sentence(report.note, computable_.left_out());
    if (failed_ && runs_whole_ && shows_nothing(report)) is_hidden_ = true;
    name_places(report);
    for (const NodeGroup& group : run_.groups) report.groups.emplace_back(group.name, group.nodes);
    report.num_inside = std::ssize(grouped_.inside);
    report.num_not_handed_back = num_not_handed_back_;
    report.num_unknown = std::ssize(unknown_);
    unknown_.resize(std::min(unknown_.size(), kMaxDetails));
    report.unknown = std::move(unknown_);
    return std::move(report);
  }

  std::optional<Reproducer> reproduce(NodeReport& report) {
    if (settings_.search_seconds == 0) return std::nullopt;
    const auto start = std::chrono::steady_clock::now();
    const std::chrono::duration<double> limit(settings_.search_seconds);
    const auto should_stop = [&] { return std::chrono::steady_clock::now() - start > limit; };
    const bool is_hidden = is_hidden_ && makes_expected();
    ReproducerSearch found =
        find_reproducer({.graph = graph_,
                         .check = check_on(backend_),
                         .divergence = report.first_divergence,
                         .nodes_agree = !is_hidden && shows_nothing(report) &&
                                        report.num_mismatched == 0 && report.num_right_locally == 0,
                         .should_stop = should_stop});
    add_sentence(report.note, found.note);
    if (found.reproducer && is_hidden) {
      add_sentence(
          report.note,
          "The fault disappears when every value is an output, so the values do not show it. "
          "The reproducer does");
    }
    return found.reproducer;
  }

 private:
  std::string executor_name() const {
    if (runs_plans(settings_)) return "execution plan";
    return settings_.executor.empty() ? "backend" : "executor";
  }

  // The values that a run of the whole graph shows.
  std::string shown_values() const {
    return run_.groups.empty() ? "all of them" : "those at the borders of groups";
  }

  // Who cannot run the graph, because operators are missing here, can still run the others.
  bool runs_part() const { return failed_ && run_.threw() && !computable_.is_whole(); }

  bool shows_nothing(const NodeReport& report) const {
    return !runs_part() && report.error.empty() && report.num_compared > 0 &&
           !report.first_divergence && report.num_not_judged == 0;
  }

  // Whether the graph gives the expected outputs when eager operators run it. If not, it fails on
  // any executor.
  bool makes_expected() const {
    PlanBackend eager{ExecutionOptions()};
    return !check_on(eager)(run_.graph_case, settings_);
  }

  // Nodes that are right one by one may be wrong when they run together.
  void look_for_difference(ComparedRuns& runs) {
    runs_whole_ = true;
    ComparedRuns whole = compare_once();
    is_hidden_ = shows_nothing(whole.report);
    runs_whole_ = whole.report.first_divergence || !whole.report.error.empty();
    if (!runs_whole_) return;
    const bool agreed = runs.report.num_mismatched == 0 && runs.report.num_not_judged == 0;
    runs = std::move(whole);
    add_sentence(runs.report.note,
                 fmt::format("The node values that the {} returned {}", executor_name(),
                             agreed ? "agree" : "do not explain the failure"));
    add_sentence(runs.report.note, "The values below come from runs of the whole graph");
  }

  // The first difference seen need not be the first one.
  void note_missing(ComparedRuns& runs) const {
    const auto divergent = static_cast<size_t>(*runs.report.first_divergence->node.index);
    std::vector<std::string> before;
    for (const std::string& value : runs.missing) {
      const auto producer = graph_.program[graph_.id_of(value)].producer;
      if (producer.value() < divergent) before.push_back(value);
    }
    if (before.empty()) return;
    const std::string verb = runs_whole_ ? "seen" : "returned";
    constexpr size_t kMaxNames = 3;
    add_sentence(runs.report.note,
                 fmt::format("{} of the values before this difference {} not {} ({}), so "
                             "the first difference may be earlier",
                             before.size(), before.size() == 1 ? "was" : "were", verb,
                             quoted_list(before, kMaxNames)));
  }

  std::unique_ptr<NodeValues> open_values() {
    forms_.clear();
    if (!runs_whole_) {
      const Case& whole_or_part = runs_part() ? computable_case_ : run_.graph_case;
      std::unique_ptr<NodeValues> values = backend_.values(whole_or_part);
      if (values) {
        const std::vector<NodeGroup> groups = backend_.groups();
        group_nodes(graph_.program, graph_.memory, groups);
        for (const NodeGroup& group : groups) {
          for (const ValueForm& form : group.values) forms_.emplace(form.name, form);
        }
        return values;
      }
      runs_whole_ = true;
    }
    return whole_run_values(backend_, graph_, settings_.seed);
  }

  SeenValue in_form(const std::string& name, const at::Tensor& value) const {
    const auto form = forms_.find(name);
    if (form == forms_.end() || !value.defined()) return value;
    return in_graph_form(value, form->second, graph_.program[graph_.id_of(name)]);
  }

  ComparedRuns compare_once() {
    ComparedRuns runs;
    if (!run_.values_file.empty()) {
      write_output([&] { runs.kept = std::make_unique<SafetensorsWriter>(run_.values_file); });
    }
    std::optional<BackendValues> values;
    const auto open = [&] { values.emplace(settings_.seed, [this] { return open_values(); }); };
    if (const auto error = error_of(open)) {
      runs.report = {.tolerance = settings_.tolerance,
                     .error = "the graph could not be run: " + *error};
      return runs;
    }
    std::exception_ptr output_error;
    const auto next = [&](const std::string& name) {
      try {
        SeenValue seen = in_form(name, values->next(name));
        if (seen.tensor.defined()) {
          runs.returned.emplace(name, statistics(name, seen.tensor));
        } else {
          runs.missing.push_back(name);
        }
        if (runs.kept && fits_a_file(seen.tensor)) {
          write_output([&] { runs.kept->add(name, seen.tensor); });
        }
        return seen;
      } catch (const OutputError&) {
        output_error = std::current_exception();
        throw;
      }
    };
    Judge judge(computable_case_,
                {.criterion = criterion_of(settings_),
                 .inside = runs_whole_ ? std::vector<std::string>() : grouped_.inside});
    runs.report = compare_nodes(
        graph_.program, grouped_.values,
        [&](const ValueObserver& observer) { run_.observe_model(observer); }, next,
        settings_.tolerance, judge, failed_);
    if (output_error) std::rethrow_exception(output_error);
    if (!runs_whole_ && !runs_plans(settings_)) {
      num_not_handed_back_ = std::ssize(runs.missing);
      unknown_ = values->unknown();
    }
    return runs;
  }

  // Adds the modules and groups of nodes.
  void name_places(NodeReport& report) const {
    const std::vector<std::string> paths = module_paths(graph_.program);
    const SourceLines lines = run_.candidate.source_lines();
    const auto name = [&](ValueDetail& detail) {
      detail.module = paths.at(static_cast<size_t>(*detail.index));
      if (const auto line = lines.find(detail.node); line != lines.end()) {
        detail.source = line->second;
      }
      detail.group = grouped_.span_making(graph_.id_of(detail.value)).group;
    };
    if (report.first_divergence) name(report.first_divergence->node);
    std::ranges::for_each(report.worst, name);
    std::ranges::for_each(report.exonerated, name);
  }

  // The value that `value` has become where node `reader` of the grouped graph reads it: that of
  // the last node that wrote to its memory.
  ValueId as_read(ValueId value, size_t reader) const {
    const size_t memory = graph_.grouped_memory.of(value);
    for (size_t i = reader; i-- > 0;) {
      const std::vector<ValueId>& outputs = grouped_.program.nodes[i].outputs;
      if (std::ranges::find(outputs, value) != outputs.end()) break;
      if (!graph_.grouped_memory.is_written(memory, i, i + 1)) continue;
      for (const ValueId output : outputs) {
        if (graph_.grouped_memory.of(output) == memory) return output;
      }
    }
    return value;
  }

  // The inputs of the node that diverged; for a group, those that it reads from outside.
  void add_inputs(ComparedRuns& runs) const {
    Divergence& divergence = *runs.report.first_divergence;
    const NodeSpan& span = grouped_.span_making(graph_.id_of(divergence.node.value));
    std::set<ValueId> known;
    for (const Node& node : grouped_.nodes_of(span)) {
      for (const ValueId input : node.inputs()) {
        const bool is_new = known.insert(input).second || span.size() == 1;
        const auto producer = grouped_.program[input].producer;
        const bool is_inside = producer && *producer >= span.first && *producer <= span.last;
        if (!is_new || is_inside) continue;
        const std::string& name = graph_.program[input].name;
        const ValueId read = as_read(input, span.first);
        const auto returned = runs.returned.find(graph_.program[read].name);
        const at::Tensor given = given_tensor(read);
        const bool is_missing = std::ranges::find(runs.missing, name) != runs.missing.end();
        if (returned != runs.returned.end()) {
          divergence.inputs.push_back(returned->second);
          divergence.inputs.back().name = name;
        } else if (given.defined() || is_missing) {
          divergence.inputs.push_back(statistics(name, given));
        }
      }
    }
  }

  // A graph input, a weight or a constant; undefined for other values.
  at::Tensor given_tensor(ValueId value) const {
    if (graph_.program[value].producer) return {};
    Case given = run_.graph_case;
    return tensor_of(given, value);
  }

  const ExplainedRun& run_;
  const RunSettings& settings_;
  Backend& backend_;
  const bool failed_;
  const ExplainedGraph graph_;
  const GroupedGraph& grouped_;
  // The part of the graph whose values the model reports.
  const ComputablePart computable_;
  const Case computable_case_;
  // The forms in which the backend returned its values.
  std::unordered_map<std::string, ValueForm> forms_;
  int64_t num_not_handed_back_ = 0;
  std::vector<std::string> unknown_;
  bool runs_whole_ = false;
  // Whether the graph failed, and no value differed when all of them were outputs.
  bool is_hidden_ = false;
};

}  // namespace

Explanation explain(const ExplainedRun& run, Backend& backend, bool failed,
                    const std::function<void(const NodeReport&)>& on_nodes) {
  Explanation explanation;
  explanation.nodes.tolerance = run.settings.tolerance;
  const auto error = error_of([&] {
    Explainer explainer(run, backend, failed);
    explanation.nodes = explainer.compare();
    if (on_nodes) on_nodes(explanation.nodes);
    if (failed) explanation.reproducer = explainer.reproduce(explanation.nodes);
  });
  if (error && explanation.nodes.error.empty()) explanation.nodes.error = *error;
  return explanation;
}

std::string first_varying_value(Backend& backend, const Case& graph_case, uint64_t seed,
                                int num_runs) {
  const Program& program = *graph_case.program;
  const std::vector<ValueId> compared = compared_values(program);
  // One run after the other, of which only hashes stay; 0 for a value that was not returned.
  std::vector<size_t> hashes(compared.size());
  size_t first = compared.size();
  // After an error, the run itself is judged all the same.
  error_of([&] {
    for (int run = 0; run < num_runs; ++run) {
      BackendValues values(seed, [&] { return backend.values(graph_case); });
      for (size_t i = 0; values.has_values() && i < first; ++i) {
        const at::Tensor value = values.next(program[compared[i]].name);
        if (!value.defined() || value.numel() == 0) continue;
        const at::Tensor dense = plain_copy(value);
        const size_t hash = std::hash<std::string_view>()(
            {static_cast<const char*>(dense.const_data_ptr()), dense.nbytes()});
        if (run == 0) hashes[i] = hash;
        if (hashes[i] != 0 && hashes[i] != hash) first = i;
      }
    }
  });
  return first < compared.size() ? program[compared[first]].name : "";
}

}  // namespace torch_ir
