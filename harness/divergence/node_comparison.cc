#include "harness/divergence/node_comparison.h"

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/divergence/reproducer_files.h"
#include "harness/divergence/value_form.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/cases/graph_part.h"
#include "torch_ir/cases/node_groups.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/module_paths.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/random_state.h"
#include "torch_ir/runtime/graph/graph_memory.h"
#include "torch_ir/runtime/graph/memory_overlap.h"
#include "torch_ir/verifier/compare_nodes.h"
#include "torch_ir/verifier/float64_run.h"
#include "torch_ir/verifier/statistics.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {
namespace {

constexpr int64_t kMaxBytesOfRun = int64_t{256} << 20;

// Each needs a run of the model, and memory for its value.
constexpr size_t kMaxExonerated = 64;

// Assumed for dynamic sizes.
constexpr int64_t kGuessedSize = 256;

int64_t bytes_of(const TensorMeta& meta) {
  auto bytes = static_cast<int64_t>(c10::elementSize(parse_dtype(meta.dtype)));
  for (const int64_t size : meta.shape) {
    if (__builtin_mul_overflow(bytes, size == kDynamicSize ? kGuessedSize : size, &bytes)) {
      return kMaxTensorBytes;
    }
  }
  return std::min(bytes, kMaxTensorBytes);
}

// Gets the values of nodes from a backend that only runs whole graphs, by adding intermediate
// values to the outputs, as many per run as fit into bounded memory. Values that the graph later
// writes to are left out, since they no longer hold what their node computed.
class WholeRunValues : public NodeValues {
 public:
  WholeRunValues(Backend& backend, const IR& ir, const StateDict& weights,
                 const std::vector<at::Tensor>& inputs, const GraphMemory& memory,
                 const std::vector<std::string>& compared, uint64_t seed);

  at::Tensor next(const std::string& name) override;

 private:
  struct Value {
    TensorMeta meta;
    int64_t num_bytes = 0;
  };

  void run_from(size_t position);

  Backend& backend_;
  const StateDict& weights_;
  const std::vector<at::Tensor>& inputs_;
  const uint64_t seed_;
  IR ir_;
  const std::vector<TensorMeta> outputs_;
  std::vector<Value> values_;
  std::unordered_map<std::string, size_t> positions_;
  std::unordered_map<std::string, at::Tensor> pending_;
};

WholeRunValues::WholeRunValues(Backend& backend, const IR& ir, const StateDict& weights,
                               const std::vector<at::Tensor>& inputs, const GraphMemory& memory,
                               const std::vector<std::string>& compared, uint64_t seed)
    : backend_(backend),
      weights_(weights),
      inputs_(inputs),
      seed_(seed),
      ir_(ir),
      outputs_(ir.graph_outputs) {
  ir_.constant_outputs.clear();
  const std::unordered_set<std::string_view> is_compared(compared.begin(), compared.end());
  for (size_t i = 0; i < ir.nodes.size(); ++i) {
    const OpNode& node = ir.nodes[i];
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      const auto place = memory.of(node.outputs[k].name);
      if (!is_compared.contains(node.outputs[k].name)) continue;
      if (place && memory.is_written(*place, i + 1, ir.nodes.size())) continue;
      Value value{node.outputs[k], bytes_of(node.outputs[k])};
      value.meta.producer_node = node.name;
      value.meta.producer_output_idx = static_cast<int64_t>(k);
      positions_.emplace(value.meta.name, values_.size());
      values_.push_back(std::move(value));
    }
  }
}

at::Tensor WholeRunValues::next(const std::string& name) {
  const auto position = positions_.find(name);
  if (position == positions_.end()) return {};
  auto found = pending_.find(name);
  if (found == pending_.end()) {
    run_from(position->second);
    found = pending_.find(name);
  }
  at::Tensor value = std::move(found->second);
  pending_.erase(found);
  return value;
}

void WholeRunValues::run_from(size_t position) {
  pending_.clear();
  // The graph's own outputs are kept, so that it stays the same graph.
  ir_.graph_outputs = outputs_;
  std::unordered_map<std::string, size_t> places;
  for (size_t i = 0; i < outputs_.size(); ++i) places.emplace(outputs_[i].name, i);
  int64_t num_bytes = 0;
  size_t end = position;
  while (end < values_.size() &&
         (end == position || num_bytes + values_[end].num_bytes <= kMaxBytesOfRun)) {
    num_bytes += values_[end].num_bytes;
    const TensorMeta& meta = values_[end++].meta;
    const bool is_new = places.emplace(meta.name, ir_.graph_outputs.size()).second;
    if (is_new) ir_.graph_outputs.push_back(meta);
  }
  at::manual_seed(seed_);
  std::vector<at::Tensor> results = backend_.run(ir_, weights_, inputs_);
  if (results.size() != ir_.graph_outputs.size()) {
    throw ExecutionError(fmt::format("wrong number of outputs: {}, expected {}", results.size(),
                                     ir_.graph_outputs.size()));
  }
  for (size_t i = position; i < end; ++i) {
    const std::string& name = values_[i].meta.name;
    pending_[name] = results[places.at(name)];
  }
}

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

  std::vector<std::string> unknown() const { return values_->unknown(); }

 private:
  RandomState state_;
  std::unique_ptr<NodeValues> values_;
};

class Explainer {
 public:
  Explainer(const ExplainedRun& run, Backend& backend)
      : run_(run),
        ir_(run.ir),
        settings_(run.settings),
        backend_(backend),
        memory_(ir_, run.candidate.weights()),
        weights_(apart_from_model(run.candidate.weights())),
        computable_(computable_part(ir_)),
        grouped_(group_nodes(ir_, weights_, run.groups)),
        grouped_memory_(grouped_.ir, weights_),
        cutter_(grouped_.ir, grouped_memory_, grouped_.spans),
        compared_(grouped_.values.begin(), grouped_.values.end()),
        watch_(ir_) {
    for (size_t i = 0; i < ir_.nodes.size(); ++i) {
      indices_.emplace(ir_.nodes[i].name, i);
      for (const TensorMeta& output : ir_.nodes[i].outputs) producers_.emplace(output.name, i);
    }
  }

  NodeReport compare(bool failed) {
    failed_ = failed;
    NodeReport report = compare_once();
    const bool ended = report.error.empty();
    if (runs_whole_) {
      add_note(report, fmt::format("To see the values, the graph ran with {} as outputs", all()));
    } else if (ended && report.num_compared == 0 && !missing_.empty()) {
      compare_whole_runs(report);
      add_note(report, fmt::format("The {} returned no values of nodes; to see them, the graph "
                                   "ran with {} as outputs",
                                   who(), all()));
    } else if (ended && failed && !report.first_divergence) {
      look_for_difference(report);
    }
    if (report.first_divergence) {
      note_missing(report);
      add_inputs(report);
    }
    add_note(report, computable_.left_out());
    if (failed && runs_whole_ && shows_nothing(report)) is_hidden_ = true;
    name_places(report);
    report.num_groups = std::ssize(run_.groups);
    report.num_inside = grouped_.num_inside;
    report.num_not_handed_back = num_not_handed_back_;
    report.num_unknown = std::ssize(unknown_);
    unknown_.resize(std::min(unknown_.size(), kMaxNodeDetails));
    report.unknown = std::move(unknown_);
    return report;
  }

  std::optional<Reproducer> reproduce(NodeReport& report) {
    const bool is_hidden = is_hidden_ && makes_expected();
    ReproducerSearch found = find_reproducer(
        {.run = run_,
         .weights = weights_,
         .check = check_on(backend_),
         .grouped = grouped_,
         .memory = grouped_memory_,
         .reference = watch_,
         .divergence = report.first_divergence,
         .nodes_agree = !is_hidden && shows_nothing(report) && report.num_mismatched == 0});
    add_note(report, found.note);
    if (found.reproducer && is_hidden) {
      add_note(report, fmt::format("The fault disappears when every value is an output: the {} "
                                   "probably fuses nodes, and fails only when it does. The "
                                   "reproducer shows the fault",
                                   who()));
    }
    return found.reproducer;
  }

 private:
  // Copies the weights that the model writes to, so that it cannot change the graph's. Copies share
  // memory if their originals do.
  StateDict apart_from_model(const StateDict& weights) const {
    std::set<std::string> changed;
    for (const auto& item : ir_.weight_name_mapping) {
      const auto memory = memory_.of(item.key());
      if (!memory || !memory_.is_written(*memory, 0, ir_.nodes.size())) continue;
      changed.insert({item.key(), item.value()});
    }
    const std::vector<std::string> names = weights.keys();
    std::vector<at::Tensor> tensors;
    for (const std::string& name : names) tensors.push_back(*weights.find(name));
    std::map<size_t, std::vector<size_t>> groups;
    const std::vector<size_t> group_of = overlap_groups(tensors);
    for (size_t i = 0; i < names.size(); ++i) groups[group_of[i]].push_back(i);
    for (const auto& [group, members] : groups) {
      const auto is_changed = [&](size_t i) { return changed.contains(names[i]); };
      if (std::ranges::none_of(members, is_changed)) continue;
      std::vector<at::Tensor> copies;
      for (const size_t i : members) copies.push_back(tensors[i].detach());
      copies = copy_group(copies);
      for (size_t i = 0; i < members.size(); ++i) tensors[members[i]] = copies[i];
    }
    StateDict apart;
    for (size_t i = 0; i < names.size(); ++i) apart.insert(names[i], tensors[i]);
    return apart;
  }

  static void add_note(NodeReport& report, const std::string& note) {
    if (note.empty()) return;
    if (!report.note.empty()) report.note += ' ';
    report.note += note;
    if (!note.ends_with('.')) report.note += '.';
  }

  bool runs_on_plan() const { return settings_.backend.empty() && settings_.executor.empty(); }

  std::string who() const {
    if (runs_on_plan()) return "execution plan";
    return settings_.executor.empty() ? "backend" : "executor";
  }

  // The values that a run of the whole graph shows.
  std::string all() const {
    return run_.groups.empty() ? "all of them" : "those at the borders of groups";
  }

  // Whether eager operators also run, to check values that only float64 accepts.
  bool runs_eagerly_too() const { return settings_.criterion.reference == ReferenceKind::kAuto; }

  static bool shows_nothing(const NodeReport& report) {
    return report.error.empty() && report.num_compared > 0 && !report.first_divergence;
  }

  // Whether the graph gives the expected outputs when eager operators run it. If not, it fails on
  // any executor.
  bool makes_expected() const {
    try {
      VerificationReport report;
      report.is_valid = true;
      report.tolerance = settings_.tolerance;
      report.criterion = settings_.criterion;
      at::manual_seed(settings_.seed);
      check_graph(report, ir_, weights_, run_.inputs, eager_outputs(ir_, weights_, run_.inputs),
                  run_.expected, settings_.criterion.reference);
      return report.is_valid;
    } catch (const std::exception&) {
      return false;
    }
  }

  void compare_whole_runs(NodeReport& report) {
    runs_whole_ = true;
    report = compare_once();
  }

  // Nodes that are right one by one may be wrong when they run together.
  void look_for_difference(NodeReport& report) {
    const std::vector<std::string> missing = missing_;
    NodeReport whole;
    compare_whole_runs(whole);
    is_hidden_ = shows_nothing(whole);
    runs_whole_ = whole.first_divergence || !whole.error.empty();
    if (!runs_whole_) {
      missing_ = missing;
      return;
    }
    const bool agreed = report.num_mismatched == 0;
    report = std::move(whole);
    add_note(report, runs_on_plan() ? "The nodes agree when they run one by one"
                     : agreed ? fmt::format("The node values that the {} returned agree", who())
                              : fmt::format("The node values that the {} returned do not explain "
                                            "the failure",
                                            who()));
    add_note(report, "The values below come from runs of the whole graph");
  }

  // The first difference seen need not be the first one.
  void note_missing(NodeReport& report) {
    const auto divergent = static_cast<size_t>(report.first_divergence->node.index);
    std::vector<std::string> before;
    for (const std::string& value : missing_) {
      if (producers_.at(value) < divergent) before.push_back(value);
    }
    if (before.empty()) return;
    std::string told = "returned";
    if (runs_on_plan()) told = "computed separately";
    if (runs_whole_) told = "seen";
    constexpr size_t kMaxNames = 3;
    add_note(report, fmt::format("{} of the values before this difference {} not {} ({}), so the "
                                 "first difference may be earlier",
                                 before.size(), before.size() == 1 ? "was" : "were", told,
                                 quoted_list(before, kMaxNames)));
  }

  std::unique_ptr<NodeValues> open_values() {
    forms_.clear();
    if (!runs_whole_) {
      std::unique_ptr<NodeValues> own = backend_.values(ir_, weights_, run_.inputs);
      if (own) {
        const std::vector<NodeGroup> groups = backend_.groups();
        group_nodes(ir_, weights_, groups);
        for (const NodeGroup& group : groups) {
          for (const ValueForm& form : group.values) forms_.emplace(form.name, form);
        }
        return own;
      }
      runs_whole_ = true;
    }
    return std::make_unique<WholeRunValues>(backend_, ir_, weights_, run_.inputs, memory_,
                                            grouped_.values, settings_.seed);
  }

  SeenValue in_form(const std::string& name, const at::Tensor& value) const {
    const auto form = forms_.find(name);
    if (form == forms_.end() || !value.defined()) return value;
    const std::vector<TensorMeta>& outputs = ir_.nodes[producers_.at(name)].outputs;
    return in_graph_form(value, form->second, *std::ranges::find(outputs, name, &TensorMeta::name));
  }

  NodeReport compare_once() {
    missing_.clear();
    std::optional<BackendValues> values;
    try {
      values.emplace(settings_.seed, [this] { return open_values(); });
    } catch (const OutputError&) {
      throw;
    } catch (const std::exception& error) {
      return {.tolerance = settings_.tolerance,
              .error = "the graph could not be run: " + message_text(error)};
    }
    std::exception_ptr output_error;
    const auto next = [&](const std::string& name) {
      try {
        const at::Tensor value = values->next(name);
        if (!value.defined()) missing_.push_back(name);
        return in_form(name, value);
      } catch (const OutputError&) {
        output_error = std::current_exception();
        throw;
      }
    };
    Float64Run float64(computable_.ir, weights_, run_.inputs, runs_eagerly_too());
    NodeReport report = compare_nodes(
        ir_, grouped_.values,
        [&](const ValueObserver& observer) {
          watch_.run(run_.candidate, run_.inputs, settings_.seed, observer);
        },
        next, settings_.tolerance, NodeJudge{.run = float64, .criterion = settings_.criterion},
        [&](const std::vector<DoubtedValue>& doubted) { return exonerate(doubted, !failed_); });
    if (output_error) std::rethrow_exception(output_error);
    if (!runs_whole_ && !runs_on_plan()) {
      num_not_handed_back_ = std::ssize(missing_);
      unknown_ = values->unknown();
    }
    return report;
  }

  // Exonerates a value if a reader of it is right, but would be wrong had it read this value. When
  // outputs are wrong, also exonerates values that make no difference to any reader. Rounding
  // reaches the readers.
  std::vector<bool> exonerate(const std::vector<DoubtedValue>& values, bool has_to_be_unread) {
    std::vector<bool> verdicts(values.size(), false);
    const size_t count = std::min(values.size(), kMaxExonerated);
    try {
      std::set<std::string> names;
      for (size_t i = 0; i < count; ++i) names.insert(values[i].name);
      const size_t end = producers_.at(values[count - 1].name) + 1;
      const auto told = told_values(names, end, /*copies=*/true);
      for (size_t i = 0; i < count; ++i) {
        bool is_same_to_all = !has_to_be_unread;
        std::set<size_t> readers;
        for (const size_t node : values[i].readers) {
          readers.insert(grouped_.span_of.at(ir_.nodes[node].name));
        }
        for (const size_t reader : readers) {
          const std::optional<ReadEffect> effect =
              effect_on(grouped_.spans[reader], values[i].name, told.at(values[i].name));
          if (effect == ReadEffect::kWrong) verdicts[i] = true;
          if (effect != ReadEffect::kNone) is_same_to_all = false;
        }
        if (is_same_to_all) verdicts[i] = true;
      }
    } catch (const OutputError&) {
      throw;
    } catch (const std::exception&) {
      // Values that could not be tried are not exonerated.
    }
    return verdicts;
  }

  enum class ReadEffect { kNone, kRight, kWrong };

  // The effect on the nodes of `reader` of reading `value` in place of the model's value `name`;
  // nothing if they cannot run alone.
  std::optional<ReadEffect> effect_on(const NodeSpan& reader, const std::string& name,
                                      const at::Tensor& value) {
    NodeRange range{reader.first, reader.last};
    for (const OpNode& node : grouped_.nodes_of(reader)) {
      const auto place = memory_.of(name);
      const size_t index = indices_.at(node.name);
      const bool is_written = place && memory_.is_written(*place, producers_.at(name) + 1, index);
      if (is_written || watch_.random_nodes().contains(index)) return std::nullopt;
      for (const TensorMeta& output : node.outputs) {
        if (compared_.contains(output.name)) range.outputs.push_back(output.name);
      }
    }
    const GraphPart part = cutter_.cut(range, watch_.facts());
    const auto& metas = part.ir.graph_inputs;
    const auto input = std::ranges::find(metas, name, &TensorMeta::name);
    if (!part.problem.empty() || input == metas.end()) return std::nullopt;
    at::manual_seed(settings_.seed);
    const auto recorded =
        record_part(run_.candidate, grouped_.ir, grouped_memory_, run_.inputs, part, reader.first);
    if (!recorded) return std::nullopt;
    std::vector<at::Tensor> inputs = recorded->inputs;
    at::Tensor& read = inputs.at(static_cast<size_t>(input - metas.begin()));
    if (read.sizes() != value.sizes() || read.dtype() != value.dtype()) return ReadEffect::kWrong;
    read = value;
    const StateDict weights = used_weights(part.ir, weights_);
    const std::vector<at::Tensor> made = eager_outputs(part.ir, weights, inputs);
    const NodeReport report = compare_part(part.ir, weights, *recorded, made);
    if (report.num_mismatched > 0) return ReadEffect::kWrong;
    return report.worst.empty() ? ReadEffect::kNone : ReadEffect::kRight;
  }

  // Judges the results of a part on other inputs by the rules for the whole graph.
  NodeReport compare_part(const IR& part, const StateDict& weights, const RecordedPart& recorded,
                          const std::vector<at::Tensor>& made) const {
    const auto& outputs = part.graph_outputs;
    Float64Run float64(part, weights, recorded.inputs, runs_eagerly_too());
    return compare_nodes(
        part, compared_values(part),
        [&](const ValueObserver& observer) {
          for (size_t i = 0; i < outputs.size(); ++i)
            observer(outputs[i].name, recorded.outputs[i]);
        },
        [&](const std::string& name) {
          const auto output = std::ranges::find(outputs, name, &TensorMeta::name);
          return made.at(static_cast<size_t>(output - outputs.begin()));
        },
        part_tolerance(settings_.tolerance, ir_, part),
        NodeJudge{.run = float64, .criterion = settings_.criterion});
  }

  // The values of `names` that another run of the nodes before `end` returns. Without copies, they
  // are as these nodes leave them.
  std::unordered_map<std::string, at::Tensor> told_values(const std::set<std::string>& names,
                                                          size_t end, bool copies) {
    std::unordered_map<std::string, at::Tensor> told;
    BackendValues values(settings_.seed, [this] { return open_values(); });
    for (const std::string& value : grouped_.values) {
      if (producers_.at(value) >= end) break;
      const at::Tensor tensor = in_form(value, values.next(value)).tensor;
      if (names.contains(value)) told.emplace(value, copies ? plain_copy(tensor) : tensor);
    }
    return told;
  }

  // Adds the modules and groups of nodes.
  void name_places(NodeReport& report) const {
    const std::vector<std::string> paths = module_paths(ir_);
    const auto name = [&](NodeDetail& detail) {
      detail.module = paths.at(static_cast<size_t>(detail.index));
      detail.group = grouped_.spans[grouped_.span_of.at(detail.node)].group;
    };
    if (report.first_divergence) name(report.first_divergence->node);
    std::ranges::for_each(report.worst, name);
    std::ranges::for_each(report.exonerated, name);
  }

  void add_inputs(NodeReport& report) {
    std::vector<TensorStatistics>& inputs = report.first_divergence->inputs;
    try {
      inputs = inputs_of(grouped_.span_of.at(report.first_divergence->node.node));
    } catch (const OutputError&) {
      throw;
    } catch (const std::exception& error) {
      add_note(report, "Its inputs are unknown because another run ended with an error: " +
                           message_text(error));
    }
  }

  // For a group, the inputs that it reads from outside.
  std::vector<TensorStatistics> inputs_of(size_t span) {
    const std::span<const OpNode> nodes = grouped_.nodes_of(grouped_.spans[span]);
    std::vector<std::string> read;
    std::set<std::string_view> known;
    for (const OpNode& node : nodes) {
      for (const TensorMeta& input : node.inputs) {
        const bool is_new = known.insert(input.name).second || nodes.size() == 1;
        if (is_new && !is_made_by(span, input.name)) read.push_back(input.name);
      }
    }
    const auto made = told_values({read.begin(), read.end()}, indices_.at(nodes.back().name),
                                  /*copies=*/false);
    std::vector<TensorStatistics> inputs;
    for (const std::string& name : read) {
      const auto found = made.find(name);
      const at::Tensor tensor = found != made.end() ? found->second : given(name);
      const bool is_missing = std::ranges::find(missing_, name) != missing_.end();
      if (tensor.defined() || is_missing) inputs.push_back(statistics(name, tensor));
    }
    return inputs;
  }

  bool is_made_by(size_t span, const std::string& value) const {
    const auto producer = producers_.find(value);
    return producer != producers_.end() &&
           grouped_.span_of.at(ir_.nodes[producer->second].name) == span;
  }

  // A graph input, a weight or a constant; undefined for other names.
  at::Tensor given(const std::string& name) const {
    for (size_t i = 0; i < ir_.graph_inputs.size() && i < run_.inputs.size(); ++i) {
      if (ir_.graph_inputs[i].name == name) return run_.inputs[i];
    }
    const bool is_weight = ir_.weight_name_mapping.contains(name);
    const at::Tensor* weight = is_weight ? find_weight(ir_, weights_, name) : nullptr;
    return weight == nullptr ? at::Tensor() : *weight;
  }

  const ExplainedRun& run_;
  const IR& ir_;
  const RunSettings& settings_;
  Backend& backend_;
  const GraphMemory memory_;
  const StateDict weights_;
  // The part of the graph whose values the model reports.
  const ComputablePart computable_;
  std::unordered_map<std::string, size_t> indices_;
  std::unordered_map<std::string, size_t> producers_;
  // Parts are cut from this graph, at its spans; each node is in one span.
  const GroupedGraph grouped_;
  const GraphMemory grouped_memory_;
  const PartCutter cutter_;
  const std::unordered_set<std::string> compared_;
  ReferenceWatch watch_;
  // The forms in which the backend returned its values.
  std::unordered_map<std::string, ValueForm> forms_;
  int64_t num_not_handed_back_ = 0;
  std::vector<std::string> unknown_;
  bool failed_ = false;
  bool runs_whole_ = false;
  // Whether the graph failed, and no value differed when all of them were outputs.
  bool is_hidden_ = false;
  // Values, in order, that the model has but the backend left out of the last comparison.
  std::vector<std::string> missing_;
};

}  // namespace

Explanation explain(const ExplainedRun& run, Backend& backend, bool failed,
                    const std::function<void(const NodeReport&)>& on_nodes) {
  Explanation explanation;
  explanation.nodes.tolerance = run.settings.tolerance;
  try {
    Explainer explainer(run, backend);
    explanation.nodes = explainer.compare(failed);
    if (on_nodes) on_nodes(explanation.nodes);
    if (failed) explanation.reproducer = explainer.reproduce(explanation.nodes);
  } catch (const OutputError&) {
    throw;
  } catch (const std::exception& error) {
    if (explanation.nodes.error.empty()) explanation.nodes.error = message_text(error);
  }
  return explanation;
}

}  // namespace torch_ir
