#include "torch_ir/runtime/replay/segmented_graph.h"

#include <ATen/ops/scalar_tensor.h>

#include <algorithm>
#include <chrono>
#include <unordered_set>
#include <utility>

#include "torch_ir/runtime/graph/memory_overlap.h"

namespace torch_ir {
namespace {

constexpr const char* kSharedReason = "it is near a write to memory that two values share";
constexpr const char* kFailedReason = "its replay fails where a run step by step does not";

// The reason why a node is never replayed; null if it may be.
const char* reason_for(const LoweredNode& node) {
  if (std::holds_alternative<ControlFlowCall>(node.callee)) {
    return "control flow; its graphs are replayed separately";
  }
  const auto* call = std::get_if<std::shared_ptr<const OpHandlerCall>>(&node.callee);
  const bool is_known = call == nullptr || returns_input((*call)->handler);
  return is_known ? nullptr : "it has a registered op handler";
}

std::string reason_for(const LoweredGraph& graph, const ExecutionOptions& options) {
  if (!options.trace) return "the plan was compiled without traces";
  if (!graph.device.is_cpu()) return "it runs on " + graph.device.str();
  return "";
}

bool share_memory(const std::vector<at::Tensor>& tensors) {
  const std::vector<size_t> groups = overlap_groups(tensors);
  return std::unordered_set<size_t>(groups.begin(), groups.end()).size() < groups.size();
}

// Whether writes to an input could show in another input or constant.
bool may_see_writes(const GraphRange& range, const std::vector<at::Tensor>& inputs) {
  const bool writes_inputs = std::ranges::any_of(
      range.inputs, [&](const GraphPort& input) { return range.value(input).is_written; });
  if (!writes_inputs && !range.is_whole) return false;
  std::vector<at::Tensor> tensors = inputs;
  if (!writes_inputs) {
    for (const LoweredValue& value : range.graph->values) {
      if (value.constant.defined() && value.is_written) tensors.push_back(value.constant);
    }
  }
  return share_memory(tensors);
}

// Turns numbers into tensors for a replay. Nothing if a value does not match its declaration.
std::optional<at::Tensor> to_port(const LoweredValue& port, const c10::IValue& value) {
  if (port.is_scalar() && value.isScalar()) {
    const at::Scalar number = value.toScalar();
    return at::scalar_tensor(number, at::TensorOptions(number.type()));
  }
  if (port.is_scalar() || !value.isTensor() || !value.toTensor().defined()) return std::nullopt;
  return value.toTensor();
}

c10::IValue from_port(const LoweredValue& port, const at::Tensor& tensor) {
  if (port.is_scalar()) return tensor.item();
  return tensor;
}

std::optional<std::vector<at::Tensor>> to_ports(
    const GraphRange& range, c10::function_ref<const c10::IValue&(size_t)> input) {
  std::vector<at::Tensor> tensors;
  tensors.reserve(range.inputs.size());
  for (size_t i = 0; i < range.inputs.size(); ++i) {
    std::optional<at::Tensor> tensor = to_port(range.value(range.inputs[i]), input(i));
    if (!tensor) return std::nullopt;
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

const OnValue* observer_of(const SegmentedRunRecord* record) {
  return record != nullptr && record->on_value ? &record->on_value : nullptr;
}

}  // namespace

SegmentedGraph::SegmentedGraph(const LoweredGraph& graph, const ExecutionOptions& options)
    : graph_(graph),
      options_(options),
      read_until_(find_last_reads(graph)),
      run_body_of_([this](const LoweredGraph& body, const Stack& inputs, SymbolValues* symbols) {
        return bodies_.at(&body)->run_body(inputs, symbols);
      }) {
  const size_t num_nodes = graph.nodes.size();
  const std::string reason = reason_for(graph, options);
  if (!reason.empty()) {
    add_steps(0, num_nodes, reason);
  } else {
    whole_segment_ = std::make_shared<const Segment>(
        Segment{0, num_nodes, std::make_unique<Replays>(whole_range(graph), options)});
    segments_[0] = whole_segment_;
    whole_ = whole_segment_->replays.get();
  }
  for (size_t i = 0; i < num_nodes; ++i) {
    const LoweredNode& node = graph.nodes[i];
    if (const auto* call = std::get_if<ControlFlowCall>(&node.callee)) {
      for (const LoweredGraph& body : call->graphs) {
        bodies_[&body] = std::make_unique<SegmentedGraph>(body, options);
      }
    }
    const char* const why = reason_for(node);
    if (why != nullptr && reason.empty()) cut_at(*segments_.rbegin()->second, i, why);
  }
}

SegmentedGraph::~SegmentedGraph() = default;

void SegmentedGraph::add_replayed(size_t first, size_t last) {
  if (first == last) return;
  GraphRange range = cut_range(graph_, read_until_, first, last);
  segments_[first] = std::make_shared<const Segment>(
      Segment{first, last, std::make_unique<Replays>(std::move(range), options_)});
}

void SegmentedGraph::add_steps(size_t first, size_t last, const std::string& reason) {
  segments_[first] = std::make_shared<const Segment>(Segment{first, last});
  for (size_t i = first; i < last; ++i) reasons_[i] = reason;
}

void SegmentedGraph::cut_at(const Segment& segment, size_t node, const std::string& reason) {
  const auto [first, last] = std::pair(segment.first, segment.last);
  whole_ = nullptr;
  add_steps(node, node + 1, reason);
  add_replayed(first, node);
  add_replayed(node + 1, last);
}

void SegmentedGraph::cut(const Segment& segment, const TraceRefused& refused) {
  const std::lock_guard lock(mutex_);
  const auto found = segments_.find(segment.first);
  // Another thread was first.
  if (found == segments_.end() || found->second.get() != &segment) return;
  const SegmentRef keep = found->second;
  if (refused.step) {
    cut_at(segment, *refused.step, refused.reason);
  } else if (segment.replays->range().is_whole) {
    // As a segment it gets copies of the tensors that it writes to.
    whole_ = nullptr;
    add_replayed(segment.first, segment.last);
  } else {
    add_steps(segment.first, segment.last, refused.reason);
  }
}

SegmentedGraph::SegmentRef SegmentedGraph::segment_at(size_t node) const {
  const std::lock_guard lock(mutex_);
  return segments_.at(node);
}

std::optional<ReplayResult> SegmentedGraph::try_replay(const Segment& segment,
                                                       const std::vector<at::Tensor>& inputs,
                                                       std::vector<at::Tensor>& outputs,
                                                       const ReplayOptions& options) {
  try {
    return segment.replays->run(inputs, outputs, options);
  } catch (const NeedsExact& needs) {
    const std::lock_guard lock(mutex_);
    ++exact_runs_[needs.node];
    return ReplayResult::kNeedsExact;
  } catch (const TraceRefused& refused) {
    cut(segment, refused);
    return std::nullopt;
  }
}

void SegmentedGraph::run(const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& outputs,
                         bool is_checked, SegmentedRunRecord* record) {
  SymbolValues symbols;
  if (is_checked) symbols = graph_.symbols.bind(input_values(graph_, inputs));
  SymbolValues* const checked = is_checked ? &symbols : nullptr;
  const auto result = run_whole(inputs, outputs, {true, checked, nullptr}, record);
  if (result == ReplayResult::kDone) return;
  const Stack values = input_values(graph_, inputs);
  if (!graph_.symbols.empty()) symbols = graph_.symbols.bind(values);
  if (result == ReplayResult::kFailed && observer_of(record) == nullptr) {
    outputs = caller_outputs(graph_, run_steps(graph_, values, checked));
    cut(*whole_segment_, {kFailedReason, std::nullopt});
  } else {
    outputs = caller_outputs(graph_, run_segments(values, checked, record));
  }
}

std::optional<ReplayResult> SegmentedGraph::run_whole(const std::vector<at::Tensor>& inputs,
                                                      std::vector<at::Tensor>& outputs,
                                                      ReplayOptions options,
                                                      SegmentedRunRecord* record) {
  if (lacks_strides(graph_, inputs) || whole_.load(std::memory_order_acquire) == nullptr ||
      (graph_.writes_in_place && may_see_writes(whole_segment_->replays->range(), inputs))) {
    return std::nullopt;
  }
  ReplayRecord replay;
  if (record != nullptr) options.record = &replay;
  options.on_value = observer_of(record);
  const auto result = try_replay(*whole_segment_, inputs, outputs, options);
  if (result == ReplayResult::kDone && record != nullptr) {
    record->replayed.push_back(std::move(replay));
  }
  return result;
}

Stack SegmentedGraph::run_body(const Stack& inputs, SymbolValues* symbols) {
  if (whole_.load(std::memory_order_acquire) != nullptr) {
    const GraphRange& range = whole_segment_->replays->range();
    const auto tensors = to_ports(range, [&](size_t i) -> const c10::IValue& { return inputs[i]; });
    std::vector<at::Tensor> outputs;
    const bool may_replay = tensors && !(graph_.writes_in_place && may_see_writes(range, *tensors));
    if (may_replay && try_replay(*whole_segment_, *tensors, outputs, {false, symbols, nullptr}) ==
                          ReplayResult::kDone) {
      Stack values;
      for (size_t i = 0; i < outputs.size(); ++i) {
        values.push_back(from_port(range.value(range.outputs[i]), outputs[i]));
      }
      return values;
    }
  }
  return run_segments(inputs, symbols, nullptr);
}

Stack SegmentedGraph::run_segments(const Stack& inputs, SymbolValues* symbols,
                                   SegmentedRunRecord* record) {
  const PlainKernelsGuard guard;
  StepRun run(graph_, inputs, symbols, &run_body_of_);
  while (!run.is_done()) {
    const SegmentRef segment = segment_at(run.next_step());
    const ReplayResult result = replay(*segment, run, symbols, record);
    if (result == ReplayResult::kNotReplayed) run_to(segment->last, run, record);
    if (result == ReplayResult::kFailed || result == ReplayResult::kNeedsExact) {
      // It may have written to values of the run.
      StepRun steps(graph_, inputs, symbols);
      run_to(graph_.nodes.size(), steps, record);
      if (result == ReplayResult::kFailed) cut(*segment, {kFailedReason, std::nullopt});
      return steps.outputs();
    }
  }
  return run.outputs();
}

ReplayResult SegmentedGraph::replay(const Segment& segment, StepRun& run, SymbolValues* symbols,
                                    SegmentedRunRecord* record) {
  // run_whole replays the whole graph, or nothing does this time.
  if (segment.replays == nullptr || segment.replays->range().is_whole) {
    return ReplayResult::kNotReplayed;
  }
  const GraphRange& range = segment.replays->range();
  const auto inputs = to_ports(
      range, [&](size_t i) -> const c10::IValue& { return run.value(range.inputs[i].value); });
  if (!inputs) return ReplayResult::kNotReplayed;
  if (may_see_writes(range, *inputs)) {
    cut(segment, {kSharedReason, std::nullopt});
    return ReplayResult::kDone;
  }
  std::vector<at::Tensor> outputs;
  ReplayRecord replayed;
  const auto result =
      try_replay(segment, *inputs, outputs,
                 {false, symbols, record == nullptr ? nullptr : &replayed, observer_of(record)});
  if (result != ReplayResult::kDone) return result.value_or(ReplayResult::kDone);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const GraphPort& port = range.outputs[i];
    run.set(port.value, from_port(range.value(port), outputs[i]));
  }
  for (const ValueId value : range.released) run.set(value, c10::IValue());
  run.skip_to(segment.last);
  if (record != nullptr) record->replayed.push_back(std::move(replayed));
  return ReplayResult::kDone;
}

void SegmentedGraph::run_to(size_t last, StepRun& run, SegmentedRunRecord* record) const {
  using Clock = std::chrono::steady_clock;
  const OnValue* const on_value = observer_of(record);
  while (run.next_step() < last) {
    const size_t step = run.next_step();
    const Clock::time_point start = record == nullptr ? Clock::time_point() : Clock::now();
    run.advance();
    if (record == nullptr) continue;
    record->step_seconds[step] = std::chrono::duration<double>(Clock::now() - start).count();
    if (on_value == nullptr) continue;
    for (const ValueId value : graph_.nodes[step].outputs()) {
      const c10::IValue& made = run.value(value);
      if (!made.isNone()) (*on_value)(value, as_tensor(made, graph_.values[value].declared->dtype));
    }
  }
}

std::vector<NodeNotReplayed> SegmentedGraph::not_replayed() const {
  const std::lock_guard lock(mutex_);
  std::vector<NodeNotReplayed> nodes;
  for (const auto& [index, reason] : reasons_) {
    const LoweredNode& node = graph_.nodes[index];
    nodes.push_back({node.name(), node.op_type(), reason});
    add_inner(node, &SegmentedGraph::not_replayed, nodes);
  }
  return nodes;
}

std::vector<ExactRuns> SegmentedGraph::exact_runs() const {
  const std::lock_guard lock(mutex_);
  std::vector<ExactRuns> nodes;
  for (const auto& [index, count] : exact_runs_) {
    nodes.push_back({graph_.nodes[index].name(), graph_.nodes[index].op_type(), count});
  }
  for (const auto& [index, reason] : reasons_) {
    add_inner(graph_.nodes[index], &SegmentedGraph::exact_runs, nodes);
  }
  return nodes;
}

template <class Item>
void SegmentedGraph::add_inner(const LoweredNode& node,
                               std::vector<Item> (SegmentedGraph::*list)() const,
                               std::vector<Item>& all) const {
  const auto* call = std::get_if<ControlFlowCall>(&node.callee);
  if (call == nullptr) return;
  for (const LoweredGraph& body : call->graphs) {
    for (Item& inner : (*bodies_.at(&body).*list)()) {
      inner.name = node.name() + " > " + inner.name;
      all.push_back(std::move(inner));
    }
  }
}

}  // namespace torch_ir
