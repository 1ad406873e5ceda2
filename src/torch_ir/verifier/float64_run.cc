#include "torch_ir/verifier/float64_run.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/round.h>
#include <c10/core/DefaultDtype.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/tolerance.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/operators/operator_table.h"
#include "torch_ir/operators/random_state.h"
#include "torch_ir/runtime/interpreter/node_run.h"
#include "torch_ir/verifier/rounding.h"

namespace torch_ir {
namespace {

bool is_integral(const Value& value) { return compares_exactly(value.dtype); }

// Whether a small change of an input may change the result a lot.
bool jumps(const Node& node) {
  const std::string_view condition = facts_of(out_of_place(node.target)).discontinuous;
  if (condition.empty() || condition == "always") return !condition.empty();
  const Attribute* attribute = node.find_attribute(condition);
  return attribute != nullptr && !attribute->is_none();
}

bool asks_only(const Node& node) { return facts_of(node.target).asks_about_metadata; }

// Whether the node makes integers or booleans from floating-point values, or jumps.
bool decides(const Graph& graph, const Node& node) {
  const auto is_rounded = [&](ValueId id) {
    return c10::isFloatingType(graph[id].dtype) || c10::isComplexType(graph[id].dtype);
  };
  if (!std::ranges::any_of(node.inputs(), is_rounded)) return false;
  const auto is_whole = [&](ValueId id) { return is_integral(graph[id]); };
  return jumps(node) || rounds(graph, node) ||
         (std::ranges::any_of(node.outputs, is_whole) && !asks_only(node));
}

bool decides(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [&](const Node& node) { return decides(graph, node); });
}

bool decides_inside(const Node& node) {
  return std::ranges::any_of(node.graphs, [](const Graph& graph) {
    return decides(graph) || std::ranges::any_of(graph.nodes, decides_inside);
  });
}

// Whether a jump differs in float64 by more than rounding: by more than half of the digits, or by
// one half between whole numbers.
bool has_jumped(const at::Tensor& eager, const at::Tensor& wide) {
  const at::Tensor finite = at::isfinite(eager).logical_and(at::isfinite(wide));
  const at::Tensor distance = (eager.to(wide.scalar_type()) - wide).abs().masked_select(finite);
  if (distance.numel() == 0) return false;
  const double scale = wide.abs().masked_select(finite).max().item<double>();
  const double rounding = c10::isReducedFloatingType(eager.scalar_type()) ? 0x1p-4 : 0x1p-12;
  const double greatest = distance.max().item<double>();
  const bool is_whole = !wide.is_complex() && at::equal(wide, at::round(wide));
  return greatest > rounding * scale || (is_whole && greatest >= 0.5);
}

bool agree(const at::Tensor& eager, const at::Tensor& wide) {
  if (eager.sizes() != wide.sizes()) return false;
  if (compares_exactly(eager.scalar_type())) return at::equal(eager, wide);
  if (c10::isFloat8Type(eager.scalar_type())) {
    return at::equal(eager.view(at::kByte), wide.view(at::kByte));
  }
  return !has_jumped(eager, wide);
}

struct Doubt {
  std::string reason;
  // Whether a node that rounds is the only reason.
  bool is_rounding = false;
};

void check_size(const StateDict& weights) {
  int64_t bytes = 0;
  for (const auto& item : weights) {
    const at::Tensor& weight = item.value();
    const c10::ScalarType wide = in_float64(weight.scalar_type());
    if (wide == weight.scalar_type()) continue;
    bytes += weight.numel() * static_cast<int64_t>(c10::elementSize(wide));
  }
  if (bytes <= kMaxFloat64WeightBytes) return;
  throw Error(fmt::format("the weights would take {:.3g} GiB in float64; the limit is {} GiB",
                          static_cast<double>(bytes) / (1 << 30), kMaxFloat64WeightBytes >> 30));
}

}  // namespace

// Weights and inputs are widened together, since they may share memory.
Case in_float64(const Case& graph_case) {
  check_size(graph_case.weights);
  std::vector<at::Tensor> tensors = graph_case.inputs;
  for (const StateDict* weights : {&graph_case.weights, &graph_case.constants}) {
    for (const auto& item : *weights) tensors.push_back(item.value());
  }
  tensors = in_float64(tensors);
  Case wide = graph_case.with(in_float64(*graph_case.program));
  auto next = tensors.begin();
  for (at::Tensor& input : wide.inputs) input = *next++;
  for (StateDict* weights : {&wide.weights, &wide.constants}) {
    for (auto& item : *weights) item.value() = *next++;
  }
  wide.expected.clear();
  return wide;
}

DefaultDtypeGuard::DefaultDtypeGuard() : before_(c10::get_default_dtype()) {
  c10::set_default_dtype(caffe2::TypeMeta::Make<double>());
}
DefaultDtypeGuard::~DefaultDtypeGuard() { c10::set_default_dtype(before_); }

struct Float64Run::State {
  explicit State(const Case& graph_case)
      : source(graph_case.program),
        program(*source),
        // In float64, a value that some operator computes in another dtype is no second opinion.
        wide(in_float64(graph_case), {.device = c10::kCPU, .check = ResultCheck::kThrow}),
        memory(wide.graph().memory) {
    if (decides(program)) {
      eager = std::make_unique<NodeRun>(
          graph_case, NodeRunOptions{.device = c10::kCPU, .check = ResultCheck::kWarn});
    }
    for (ValueId id = 0; id < program.values.size(); ++id) ids.emplace(program[id].name, id);
  }

  void advance() {
    const size_t step = wide.next_node();
    const Node& node = program.nodes[step];
    const RandomStateGuard random;
    const bool has_drawn = advance_wide(node);
    if (eager) eager->advance();
    inherit(step);
    if (has_drawn) doubt_all(step, {about(node, "draws random numbers")});
    if (decides_inside(node)) {
      doubt_all(step, {about(node, "contains nodes that decide by floating-point values")});
    }
    if (decides(program, node)) compare_decisions(node);
  }

  bool advance_wide(const Node& node) {
    const DefaultDtypeGuard dtype;
    if (!may_draw(node.target)) {
      wide.advance();
      return false;
    }
    const RandomState before;
    wide.advance();
    return before.has_moved();
  }

  // A value made of a doubtful one is doubtful too.
  void inherit(size_t step) {
    if (doubts.empty()) return;
    program.nodes[step].for_each_read([&](ValueId read) {
      if (const Doubt* doubt = find_doubt(read)) doubt_all(step, *doubt);
    });
  }

  void compare_decisions(const Node& node) {
    const std::optional<size_t> rounded = rounded_output(program, node);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId id = node.outputs[i];
      const bool is_step = rounded == i;
      if (!is_integral(program[id]) && !jumps(node) && !is_step) continue;
      const at::Tensor narrow = eager->current(id);
      const at::Tensor wide_value = wide.current(id);
      if (narrow.defined() != wide_value.defined() ||
          (narrow.defined() && !agree(narrow, wide_value))) {
        add_doubt(memory.of(id), {about(node, "decides differently in float64"), is_step});
      }
    }
  }

  static std::string about(const Node& node, const std::string& what) {
    return fmt::format("node '{}' ({}) {}", printable(node.name), printable(node.target), what);
  }

  // Doubts all values that the node makes or writes to.
  void doubt_all(size_t step, const Doubt& doubt) {
    for (const ValueId output : program.nodes[step].outputs) add_doubt(memory.of(output), doubt);
    for (const size_t written : memory.written_by(step)) add_doubt(written, doubt);
  }

  void add_doubt(size_t place, const Doubt& doubt) {
    Doubt& known = doubts.try_emplace(place, doubt).first->second;
    if (!doubt.is_rounding) known.is_rounding = false;
  }

  const Doubt* find_doubt(ValueId id) const {
    const auto doubt = doubts.find(memory.of(id));
    return doubt == doubts.end() ? nullptr : &doubt->second;
  }

  const Doubt* find_doubt(const std::string& name) const {
    const auto id = ids.find(name);
    return id == ids.end() ? nullptr : find_doubt(id->second);
  }

  const std::shared_ptr<const Program> source;
  const Program& program;
  NodeRun wide;
  const GraphMemory& memory;
  std::unique_ptr<NodeRun> eager;
  std::unordered_map<std::string_view, ValueId> ids;
  // By memory.
  std::unordered_map<size_t, Doubt> doubts;
};

Float64Run::Float64Run(const Case& graph_case) {
  try {
    state_ = std::make_unique<State>(graph_case);
  } catch (const std::exception& error) {
    failure_ = message_text(error);
  }
}
Float64Run::~Float64Run() = default;

template <class Result>
Result Float64Run::unless_failed(const std::function<Result(State&)>& get) {
  if (!failure_.empty()) return {};
  try {
    return get(*state_);
  } catch (const std::exception& error) {
    failure_ = message_text(error);
    return {};
  }
}

at::Tensor Float64Run::value(const std::string& name) {
  return unless_failed<at::Tensor>([&](State& state) {
    const auto id = state.ids.find(name);
    const auto node = id == state.ids.end() ? std::nullopt : state.program[id->second].producer;
    if (!node) return at::Tensor();
    while (state.wide.next_node() <= *node) state.advance();
    return state.wide.next_node() == *node + 1 ? state.wide.current(id->second) : at::Tensor();
  });
}

std::vector<at::Tensor> Float64Run::outputs() {
  return unless_failed<std::vector<at::Tensor>>([](State& state) {
    while (!state.wide.is_done()) state.advance();
    return state.wide.outputs();
  });
}

std::string Float64Run::doubt(const std::string& name) const {
  if (!failure_.empty()) return failure_;
  const Doubt* doubt = state_->find_doubt(name);
  return doubt == nullptr ? "" : doubt->reason;
}

bool Float64Run::may_round_otherwise(const std::string& name) const {
  if (!failure_.empty()) return false;
  const Doubt* doubt = state_->find_doubt(name);
  return doubt != nullptr && doubt->is_rounding;
}

}  // namespace torch_ir
