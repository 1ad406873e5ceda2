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
#include "torch_ir/runtime/graph/lowered_graph.h"
#include "torch_ir/runtime/interpreter/run.h"
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

// Makes new floating-point tensors float64 unless a dtype is given.
class DefaultDtypeGuard {
 public:
  DefaultDtypeGuard() { c10::set_default_dtype(caffe2::TypeMeta::Make<double>()); }
  ~DefaultDtypeGuard() { c10::set_default_dtype(before_); }
  DefaultDtypeGuard(const DefaultDtypeGuard&) = delete;
  DefaultDtypeGuard& operator=(const DefaultDtypeGuard&) = delete;

 private:
  const caffe2::TypeMeta before_ = c10::get_default_dtype();
};

// With `is_strict`, a value that differs from the program ends the run: in float64, one that some
// operator computes in another dtype is no second opinion.
LoweredGraph lower_checked(std::shared_ptr<const Program> program, const StateDict& weights,
                           bool is_strict) {
  LoweredGraph graph = lower(std::move(program), weights, StateDict(), c10::kCPU);
  if (is_strict) graph.differing = nullptr;
  return graph;
}

// A run of a program, checked against it.
struct CheckedRun {
  CheckedRun(std::shared_ptr<const Program> program, const StateDict& weights,
             const std::vector<at::Tensor>& inputs, bool is_strict)
      : graph(lower_checked(std::move(program), weights, is_strict)),
        values(input_values(graph, inputs)),
        symbols(graph.symbols.empty() ? SymbolValues() : graph.symbols.bind(values)),
        run(start()) {}

  StepRun start() {
    const PlainKernelsGuard guard;
    return {graph, values, &symbols};
  }

  void advance() {
    const PlainKernelsGuard guard;
    run.advance();
  }

  // An output of the last step; numbers as tensors, undefined for None.
  at::Tensor made(ValueId id) const {
    const c10::IValue& value = run.value(id);
    if (value.isNone()) return {};
    return as_tensor(value, (*graph.source)[id].dtype);
  }

  const LoweredGraph graph;
  const Stack values;
  SymbolValues symbols;
  StepRun run;
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

// Widened together, since weights and inputs may share memory.
CheckedRun start_wide(const Program& program, const StateDict& weights,
                      const std::vector<at::Tensor>& inputs) {
  check_size(weights);
  std::vector<at::Tensor> tensors = inputs;
  for (const auto& item : weights) tensors.push_back(item.value());
  tensors = in_float64(tensors);
  StateDict wide_weights;
  for (size_t i = 0; i < weights.size(); ++i) {
    wide_weights.insert(weights[i].key(), tensors[inputs.size() + i]);
  }
  tensors.resize(inputs.size());
  return {std::make_shared<const Program>(in_float64(program)), wide_weights, tensors,
          /*is_strict=*/true};
}

}  // namespace

struct Float64Run::State {
  State(std::shared_ptr<const Program> source, const StateDict& weights,
        const std::vector<at::Tensor>& inputs, bool runs_eagerly)
      : owner(std::move(source)), program(*owner), wide(start_wide(program, weights, inputs)) {
    if (runs_eagerly || decides(program)) {
      eager = std::make_unique<CheckedRun>(owner, weights, inputs, /*is_strict=*/false);
    }
    for (ValueId id = 0; id < program.values.size(); ++id) ids.emplace(program[id].name, id);
  }

  void advance() {
    const size_t step = wide.run.next_step();
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
      const at::Tensor narrow = eager->made(id);
      const at::Tensor wide_value = wide.made(id);
      if (narrow.defined() != wide_value.defined() ||
          (narrow.defined() && !agree(narrow, wide_value))) {
        add_doubt(id, {about(node, "decides differently in float64"), is_step});
      }
    }
  }

  static std::string about(const Node& node, const std::string& what) {
    return fmt::format("node '{}' ({}) {}", printable(node.name), printable(node.target), what);
  }

  // Doubts all values that the node makes or writes to.
  void doubt_all(size_t step, const Doubt& doubt) {
    for (const ValueId output : program.nodes[step].outputs) add_doubt(output, doubt);
    for (const ValueId written : wide.graph.aliases.writes[step]) add_doubt(written, doubt);
  }

  void add_doubt(ValueId id, const Doubt& doubt) {
    Doubt& known = doubts.try_emplace(wide.graph.aliases.memory[id], doubt).first->second;
    if (!doubt.is_rounding) known.is_rounding = false;
  }

  const Doubt* find_doubt(ValueId id) const {
    const auto doubt = doubts.find(wide.graph.aliases.memory[id]);
    return doubt == doubts.end() ? nullptr : &doubt->second;
  }

  const Doubt* find_doubt(const std::string& name) const {
    const auto id = ids.find(name);
    return id == ids.end() ? nullptr : find_doubt(id->second);
  }

  const std::shared_ptr<const Program> owner;
  const Program& program;
  CheckedRun wide;
  std::unique_ptr<CheckedRun> eager;
  std::unordered_map<std::string_view, ValueId> ids;
  // By memory.
  std::unordered_map<size_t, Doubt> doubts;
};

Float64Run::Float64Run(std::shared_ptr<const Program> program, const StateDict& weights,
                       const std::vector<at::Tensor>& inputs, bool runs_eagerly) {
  try {
    state_ = std::make_unique<State>(std::move(program), weights, inputs, runs_eagerly);
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
    const auto step = id == state.ids.end() ? std::nullopt : state.program[id->second].producer;
    if (!step) return at::Tensor();
    while (state.wide.run.next_step() <= *step) state.advance();
    return state.wide.run.next_step() == *step + 1 ? state.wide.made(id->second) : at::Tensor();
  });
}

at::Tensor Float64Run::eager_value(const std::string& name) {
  return unless_failed<at::Tensor>([&](State& state) {
    const auto id = state.ids.find(name);
    const auto step = id == state.ids.end() ? std::nullopt : state.program[id->second].producer;
    const bool is_there = step && state.eager && state.eager->run.next_step() == *step + 1;
    return is_there ? state.eager->made(id->second) : at::Tensor();
  });
}

std::vector<at::Tensor> Float64Run::outputs() {
  return unless_failed<std::vector<at::Tensor>>([](State& state) {
    while (!state.wide.run.is_done()) state.advance();
    return caller_outputs(state.wide.graph, state.wide.run.outputs());
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
