#include "torch_ir/verifier/lanes.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/round.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/DefaultDtype.h>
#include <c10/util/ScopeExit.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/tolerance.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/operators/operator_table.h"
#include "torch_ir/operators/random_state.h"
#include "torch_ir/runtime/graph/memory_overlap.h"
#include "torch_ir/verifier/compare_nodes.h"
#include "torch_ir/verifier/rounding.h"

namespace torch_ir {
namespace {

// Whether a small change of an input may change the result a lot.
bool jumps(const Node& node) {
  const std::string_view condition = facts_of(out_of_place(node.target)).discontinuous;
  if (condition.empty() || condition == "always") return !condition.empty();
  const Attribute* attribute = node.find_attribute(condition);
  return attribute != nullptr && !attribute->is_none();
}

// Whether the node makes steps, indices, integers or booleans from floating-point values, or jumps.
bool decides(const Graph& graph, const Node& node) {
  const auto is_float = [&](ValueId id) {
    return c10::isFloatingType(graph[id].dtype) || c10::isComplexType(graph[id].dtype);
  };
  if (std::ranges::none_of(node.inputs(), is_float)) return false;
  if (jumps(node) || rounded_or_picked(graph, node)) return true;
  const auto is_whole = [&](ValueId id) { return compares_exactly(graph[id].dtype); };
  return std::ranges::any_of(node.outputs, is_whole) && !facts_of(node.target).asks_about_metadata;
}

bool decides_inside(const Node& node) {
  return std::ranges::any_of(node.graphs, [](const Graph& graph) {
    return std::ranges::any_of(graph.nodes, [&](const Node& inner) {
      return decides(graph, inner) || decides_inside(inner);
    });
  });
}

// `exact`, with the elements of `eager` where they differ by a jump: by more than half of the
// digits, or by one half between whole numbers.
at::Tensor with_jumps(const at::Tensor& eager, const at::Tensor& exact) {
  const at::Tensor own = eager.to(exact.scalar_type());
  const at::Tensor distance = own.sub(exact).abs();
  const at::Tensor finite = at::isfinite(distance);
  const at::Tensor sizes = exact.abs().masked_select(finite);
  if (sizes.numel() == 0) return own;
  const double rounding = c10::isReducedFloatingType(eager.scalar_type()) ? 0x1p-4 : 0x1p-12;
  const bool is_whole = !exact.is_complex() && at::equal(exact, at::round(exact));
  const double most = rounding * sizes.max().item<double>();
  const at::Tensor is_near = is_whole ? distance.lt(std::min(most, 0.5)) : distance.le(most);
  return at::where(is_near, exact, own);
}

std::string about(const Node& node, const std::string& what) {
  return fmt::format("node '{}' ({}) {}", printable(node.name), printable(node.target), what);
}

}  // namespace

double greatest_finite(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.numel() == 0 || compares_exactly(tensor.scalar_type())) return 0;
  const at::Tensor sizes =
      tensor.is_complex() ? tensor.abs().to(c10::kDouble) : tensor.to(c10::kDouble).abs();
  return at::where(at::isfinite(sizes), sizes, at::zeros_like(sizes)).max().item<double>();
}

Lane::Lane(const Case& graph_case, bool is_wide)
    : graph_(std::make_shared<const LoweredGraph>(lower(graph_case, c10::kCPU))),
      is_wide_(is_wide) {
  const PlainKernelsGuard guard;
  run_ = std::make_unique<StepRun>(*graph_, input_values(*graph_, graph_case.inputs),
                                   /*symbols=*/nullptr);
}

Lane::Lane(const Lane& other)
    : graph_(other.graph_), is_wide_(other.is_wide_), run_(std::make_unique<StepRun>(*other.run_)) {
  std::vector<at::Tensor> written(graph_->values.size());
  for (ValueId id = 0; id < written.size(); ++id) {
    const bool is_written = graph_->values[id].declared != nullptr && graph_->memory.is_written(id);
    if (is_written && run_->value(id).isTensor()) written[id] = run_->value(id).toTensor();
  }
  replace_groups(written, copy_group);
  for (ValueId id = 0; id < written.size(); ++id) {
    if (written[id].defined()) run_->set(id, written[id]);
  }
}

void Lane::advance() {
  const PlainKernelsGuard guard;
  const auto end =
      c10::make_scope_exit([before = c10::get_default_dtype()] { c10::set_default_dtype(before); });
  // New tensors without a given dtype are float64, too.
  if (is_wide_) c10::set_default_dtype(caffe2::TypeMeta::Make<double>());
  run_->advance();
}

at::Tensor Lane::value(ValueId id) const {
  const LoweredValue& value = graph_->values[id];
  if (value.is_fixed()) return value.constant;
  if (run_->value(id).isNone()) return {};
  return as_tensor(run_->value(id), value.declared->dtype);
}

void Lane::replace(ValueId id, const at::Tensor& value) {
  const c10::IValue& made = run_->value(id);
  if (!made.isTensor() || !made.toTensor().defined()) return;
  const PlainKernelsGuard guard;
  const at::Tensor tensor = made.toTensor();
  const auto dtype = is_wide_ ? graph_->values[id].declared->dtype : tensor.scalar_type();
  const bool is_written = graph_->memory.is_written(id);
  if (tensor.sizes() != value.sizes()) {
    if (!is_written) run_->set(id, value.to(dtype, false, /*copy=*/true));
    return;
  }
  // What shares memory that is written to has to stay in it.
  const bool stays = is_written && at::has_internal_overlap(tensor) == at::MemOverlap::No;
  const at::Tensor target = stays ? tensor : at::empty_like(tensor, dtype);
  target.copy_(value);
  run_->set(id, target);
}

Lanes::Lanes(const Float64Case& exact, const Case& eager, std::optional<Arithmetic> arithmetic,
             const std::vector<std::string>& inside)
    : obstacles_(exact.obstacles),
      arithmetic_(arithmetic),
      is_inside_(eager.program->values.size()),
      exact_(exact.graph_case, /*is_wide=*/true),
      eager_(eager, /*is_wide=*/false),
      doubts_(is_inside_.size()),
      greatest_(is_inside_.size()) {
  const auto ids = program().ids();
  for (const std::string& name : inside) is_inside_[ids.at(name)] = true;
  for (const GraphInput& input : program().inputs) {
    if (!program()[input.value].readers.empty()) {
      greatest_[input.value] = greatest_finite(eager_.value(input.value));
    }
  }
}

void Lanes::advance() {
  settle();
  const size_t step = next_node();
  const Node& node = program().nodes[step];
  if (rounded_or_picked(program(), node)) {
    read_.clear();
    for (const ValueId input : node.inputs()) read_.push_back(eager_.value(input));
    exact_source_ = exact_.value(node.inputs()[0]).to(c10::kDouble, false, /*copy=*/true);
    // The node may write to it.
    read_[0] = read_[0].clone();
  }
  is_settled_ = false;
  is_pending_ = true;
  returned_.clear();
  equal_.clear();
  const auto obstacle = obstacles_->find(step);
  obstacle_ = obstacle == obstacles_->end() ? "" : obstacle->second;
  const RandomStateGuard random;
  const RandomState before;
  eager_.advance();
  if (may_draw(node.target) && before.has_moved()) obstacle_ = about(node, "draws random numbers");
}

// The eager lane's values, in the dtypes of the exact lane.
void Lanes::skip_exact() {
  std::vector<c10::IValue> values;
  for (const ValueId output : program().nodes[exact_.next_node()].outputs) {
    const at::Tensor value = eager_.value(output);
    c10::IValue& wide = values.emplace_back();
    if (program()[output].is_scalar || !value.defined()) continue;
    wide = value.to(in_float64(value.scalar_type()), false, /*copy=*/true);
  }
  exact_.skip(values);
}

// Whether the node writes to nothing, and nothing to memory that its values share with others.
bool Lanes::can_skip_exact() const {
  const GraphMemory& memory = eager_.graph().memory;
  const size_t step = exact_.next_node();
  const Node& node = program().nodes[step];
  if (!memory.written_by(step).empty()) return false;
  return std::ranges::none_of(node.outputs, [&](ValueId output) {
    const auto shares = [&](ValueId input) { return memory.of(input) == memory.of(output); };
    return program()[output].is_scalar ||
           (memory.is_written(output) && std::ranges::any_of(node.inputs(), shares));
  });
}

void Lanes::compute_exact() {
  if (!is_pending_) return;
  is_pending_ = false;
  const size_t step = exact_.next_node();
  if (!obstacle_.empty() && can_skip_exact()) return skip_exact();
  if (obstacles_->contains(step)) throw Error(obstacle_);
  try {
    const RandomStateGuard random;
    exact_.advance();
  } catch (const std::exception& error) {
    if (exact_.next_node() != step || !can_skip_exact()) throw;
    obstacle_ = message_text(error);
    return skip_exact();
  }
  const Node& node = program().nodes[step];
  for (const ValueId output : node.outputs) {
    const at::Tensor made = exact_.value(output);
    const c10::ScalarType wanted = exact_.graph().values[output].declared->dtype;
    if (!made.defined() || made.scalar_type() == wanted || !obstacle_.empty()) continue;
    obstacle_ = about(node, "computes in " + std::string(dtype_name(made.scalar_type())));
  }
}

at::Tensor Lanes::exact(ValueId id) {
  compute_exact();
  return exact_.value(id);
}

void Lanes::take_over(ValueId id, const at::Tensor& returned) {
  const at::Tensor own = eager_.value(id);
  if (!own.defined() || own.sizes() != returned.sizes()) return;
  returned_.insert(id);
  if (same_bits(own, returned)) {
    equal_.insert(id);
    if (is_pending_) return;
  } else {
    compute_exact();
    eager_.replace(id, returned);
  }
  exact_.replace(id, returned);
}

// Whether nobody can tell the exact lane's values of the node from what the run returned.
bool Lanes::returned_as_eager(const Node& node) const {
  return std::ranges::all_of(node.outputs, [&](ValueId output) {
    return !is_used(program(), output) || equal_.contains(output);
  });
}

void Lanes::settle() {
  if (is_settled_) return;
  const Node& node = program().nodes[next_node() - 1];
  if (is_pending_ && returned_as_eager(node) && can_skip_exact()) {
    is_pending_ = false;
    skip_exact();
  } else if (is_pending_) {
    compute_exact();
    for (const ValueId id : equal_) exact_.replace(id, eager_.value(id));
  }
  const std::string doubt = doubt_of(node);
  for (const ValueId output : node.outputs) {
    if (program()[output].is_scalar || returned_.contains(output)) continue;
    doubts_[output] = doubt;
    const at::Tensor made = eager_.value(output);
    if (made.defined() && arithmetic_ && !is_inside_[output]) {
      eager_.replace(output, round_to(*arithmetic_, made));
    }
    make_equal(node, output);
  }
  for (const ValueId output : node.outputs) {
    const double below = returned_.contains(output) ? 0 : greatest_below(output);
    greatest_[output] = std::max(below, greatest_finite(eager_.value(output)));
  }
  is_settled_ = true;
}

double Lanes::greatest_below(ValueId id) {
  double greatest = 0;
  program().nodes[program()[id].producer.value()].for_each_read(
      [&](ValueId read) { greatest = std::max(greatest, greatest_[read]); });
  return greatest;
}

void Lanes::make_equal(const Node& node, ValueId output) {
  const at::Tensor made = eager_.value(output);
  const at::Tensor exact = exact_.value(output);
  if (!made.defined() || !exact.defined()) return;
  const bool is_step = compares_exactly(made.scalar_type()) ||
                       c10::isFloat8Type(made.scalar_type()) || rounded_or_picked(program(), node);
  if (!obstacle_.empty() || decides_inside(node)) {
    exact_.replace(output, made);
  } else if (decides(program(), node)) {
    exact_.replace(output,
                   is_step || made.sizes() != exact.sizes() ? made : with_jumps(made, exact));
  }
}

// A value made of a doubtful one is doubtful too.
std::string Lanes::doubt_of(const Node& node) const {
  std::string doubt;
  node.for_each_read([&](ValueId read) {
    if (doubt.empty()) doubt = doubts_[read];
  });
  return doubt.empty() ? obstacle_ : doubt;
}

std::string Lanes::doubt(ValueId id) const {
  const auto producer = program()[id].producer;
  const bool is_of_last = producer && *producer + 1 == next_node();
  return is_of_last && !is_settled_ ? doubt_of(program().nodes[*producer]) : doubts_[id];
}

std::vector<std::optional<double>> float64_distances(const Case& graph_case) {
  const Program& program = *graph_case.program;
  std::vector<std::optional<double>> distances(
      std::min(graph_case.expected.size(), program.outputs.size()));
  try {
    Lanes lanes(in_float64(graph_case), graph_case, /*arithmetic=*/std::nullopt, /*inside=*/{});
    while (lanes.next_node() < program.nodes.size()) lanes.advance();
    lanes.settle();
    for (size_t i = 0; i < distances.size(); ++i) {
      const at::Tensor& expected = graph_case.expected[i];
      const at::Tensor exact = lanes.exact(program.outputs[i]);
      const bool is_known = expected.defined() && exact.defined() &&
                            expected.sizes() == exact.sizes() &&
                            lanes.doubt(program.outputs[i]).empty();
      if (!is_known) continue;
      const ErrorComparison errors = compare_errors(expected, expected, exact);
      distances[i] = errors.run.max / (errors.value_max == 0 ? 1 : errors.value_max);
    }
  } catch (const std::exception&) {
    // Then nothing is known.
  }
  return distances;
}

double Lanes::source_error() const {
  return greatest_finite(read_[0].to(c10::kDouble).sub(exact_source_));
}

}  // namespace torch_ir
