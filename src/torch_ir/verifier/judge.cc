#include "torch_ir/verifier/judge.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/fmax.h>
#include <ATen/ops/fmin.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <unordered_map>

#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/operators/random_state.h"
#include "torch_ir/runtime/graph/memory_overlap.h"
#include "torch_ir/verifier/arithmetic_report.h"
#include "torch_ir/verifier/compare.h"
#include "torch_ir/verifier/lanes.h"
#include "torch_ir/verifier/rounding.h"

namespace torch_ir {
namespace {

// The least and the greatest right values, element by element, as int64 or float64.
struct Span {
  explicit Span(const at::Tensor& value)
      : dtype(compares_exactly(value.scalar_type()) ? c10::kLong : c10::kDouble),
        low(value.to(dtype)),
        high(low) {}

  void include(const at::Tensor& value) {
    low = at::fmin(low, value.to(dtype));
    high = at::fmax(high, value.to(dtype));
  }
  void include(const Span& other) {
    include(other.low);
    include(other.high);
  }
  bool has_width() const { return !at::equal(low, high); }
  // How far `value` is outside; NaN only where `value` is.
  at::Tensor distance(const at::Tensor& value) const {
    const at::Tensor wide = value.to(dtype);
    const at::Tensor outside = wide.sub(at::fmin(at::fmax(wide, low), high));
    return at::where(wide.eq(low).logical_or(wide.isnan().logical_and(low.isnan())),
                     at::zeros_like(outside), outside);
  }

  c10::ScalarType dtype;
  at::Tensor low;
  at::Tensor high;
};

int64_t number_of(const at::Tensor& mask) { return mask.sum().item<int64_t>(); }

// `off`: by how many steps each element differs from the eager lane's.
StepCounts count_steps(const at::Tensor& off) {
  const int64_t num_far = number_of(off.gt(1));
  return {.num_off_by_one = number_of(off.ne(0)) - num_far, .num_off_by_more = num_far};
}

// Values in steps are right if they are in the span, and if at most `most_off` differ from the
// eager lane's.
Verdict judge_steps(const at::Tensor& returned, const at::Tensor& eager, const Span& span,
                    bool is_rounded, int64_t most_off) {
  const at::Tensor off = Span(eager).distance(returned).abs();
  // Distances of float8 are no steps.
  Verdict verdict{.steps = count_steps(compares_exactly(eager.scalar_type()) ? off : off.ne(0))};
  const int64_t num_off = verdict.steps.num_off();
  if (num_off <= most_off && number_of(span.distance(returned).ne(0)) == 0) return verdict;
  const double most = off.max().item<double>();
  verdict.own.max_ratio = most;
  verdict.own.problem =
      fmt::format("{} of {} elements differ, by at most {}{}", num_off, off.numel(), most,
                  is_rounded ? ", which rounding does not explain" : "");
  return verdict;
}

Verdict wrong(std::string problem) { return {.own = {.problem = std::move(problem)}}; }

// The value, less what near ties explain.
at::Tensor without_ties(const Span& span, const at::Tensor& value, const at::Tensor& eager) {
  return at::where(at::isfinite(eager).logical_and(at::isfinite(value)),
                   eager.to(span.dtype).add(span.distance(value)), value.to(span.dtype));
}

}  // namespace

struct Judge::State {
  State(const Case& graph_case, const JudgeOptions& its_options)
      : program(graph_case.program),
        options(its_options),
        ids(program->ids()),
        made_of(program->values.size()),
        model(graph_case, /*is_wide=*/false) {
    const auto add = [&](const Float64Case& exact, const Case& eager) {
      variants.emplace_back(exact, eager, options.criterion.arithmetic, options.inside);
    };
    const Float64Case exact = in_float64(graph_case);
    if (!options.criterion.arithmetic) {
      add(exact, graph_case);
      if (const auto integers = with_integer_biases(graph_case)) {
        add(in_float64(*integers), *integers);
      }
      return;
    }
    const Case rounded = round_to(*options.criterion.arithmetic, graph_case);
    if (options.has_outputs_only) {
      add(exact, rounded);
    } else {
      add(in_float64(rounded), rounded);
      add(exact, graph_case);
    }
  }

  Lanes& first() { return variants[0]; }

  void for_each_lanes(const auto& use) {
    std::ranges::for_each(variants, use);
    if (flipped) use(*flipped);
    std::ranges::for_each(without_wrong, use);
  }

  void advance() {
    settle();
    for_each_lanes([](Lanes& lanes) { lanes.advance(); });
    ++num_unreturned;
  }

  // Ends the last node.
  void settle() {
    const size_t step = first().next_node();
    if (step == 0) return;
    const Node& node = program->nodes[step - 1];
    for (const ValueId output : node.outputs) {
      if (returned.contains(output)) continue;
      flip_ties(node, output);
      made_of[output].merge(wrong_below(node));
    }
    for_each_lanes([](Lanes& lanes) { lanes.settle(); });
    returned.clear();
  }

  std::set<ValueId> wrong_below(const Node& node) const {
    std::set<ValueId> below;
    node.for_each_read(
        [&](ValueId read) { below.insert(made_of[read].begin(), made_of[read].end()); });
    return below;
  }

  bool describes(ValueId id, const at::Tensor& of_model, const Tolerance& tolerance) {
    const uint32_t producer = (*program)[id].producer.value();
    while (model.next_node() <= producer) {
      const RandomStateGuard random;
      const RandomState before;
      model.advance();
      model_draws = before.has_moved();
    }
    const bool is_last = model.next_node() == producer + 1;
    const at::Tensor made = is_last ? model.value(id) : at::Tensor();
    const bool is_free = model_draws || facts_of(program->nodes[producer].target).makes_empty;
    const bool is_close =
        is_free || !made.defined() || compare_tensors(of_model, made, tolerance).is_close;
    if (is_last) model.replace(id, of_model);
    return is_close;
  }

  std::optional<std::string> unexplained_by_ties(ValueId id, const at::Tensor& one,
                                                 const at::Tensor& other) {
    while (first().next_node() <= (*program)[id].producer.value_or(0)) advance();
    if (!flipped || one.sizes() != other.sizes()) return std::nullopt;
    const at::Tensor eager = first().eager(id).to(c10::kDouble);
    const at::Tensor moved = eager.add(one.to(c10::kDouble)).sub(other.to(c10::kDouble));
    const ErrorKind kind{.unit = 2 * rounding_unit(one.scalar_type()), .is_accumulated = true};
    return judge_error(compare_errors(moved, flipped->eager(id), eager), kind).problem;
  }

  bool is_rounded(const Node& node, ValueId output) const {
    return rounded_value(*program, node) == output;
  }

  void flip_ties(const Node& node, ValueId output) {
    if (!is_rounded(node, output)) return;
    const Lanes& from = flipped ? *flipped : first();
    const at::Tensor made = from.eager(output);
    const Span span = rounding_span(from, node, output);
    if (!span.has_width()) return;
    const at::Tensor other = at::where(made.to(span.dtype).eq(span.low), span.high, span.low);
    if (!flipped) flipped = first();
    flipped->replace_eager(output, other);
  }

  // What the node may round to, if its input is wrong by the error of the eager lane, or by that of
  // a rounding, times the limit.
  Span rounding_span(const Lanes& lanes, const Node& node, ValueId output) const {
    Span span(lanes.eager(output));
    const c10::ScalarType dtype = lanes.read()[0].scalar_type();
    const double rounding = 2 * rounding_unit(dtype, options.criterion.arithmetic) *
                            greatest_finite(lanes.exact_source());
    const double reach = kErrorFactor * std::max(lanes.source_error(), rounding);
    for (const double error : {-reach, reach}) {
      span.include(value_alone(*program, node, output, lanes.read(),
                               lanes.exact_source().add(error).to(dtype)));
    }
    return span;
  }

  Verdict judge(ValueId id, const SeenValue& seen, const Tolerance& tolerance, bool in_the_end) {
    const size_t end = in_the_end ? program->nodes.size() : (*program)[id].producer.value() + 1;
    while (first().next_node() < end) advance();
    if (in_the_end) {
      settle();
      return best_verdict(variants, id, /*node=*/nullptr, seen, tolerance);
    }
    if (first().next_node() > end) return {.not_judged = "it came too late"};
    const Node& node = program->nodes[end - 1];
    Verdict verdict;
    if (!facts_of(node.target).makes_empty) {
      verdict = best_verdict(variants, id, &node, seen, tolerance);
      if (!without_wrong.empty()) compare_without(id, node, seen, tolerance, verdict);
      if (!verdict.is_right() && verdict.not_judged.empty()) note_wrong(id, node);
    }
    const auto take_over = [&](Lanes& lanes) { lanes.take_over(id, seen.tensor); };
    std::ranges::for_each(variants, take_over);
    if (flipped) take_over(*flipped);
    if (first().eager(id).sizes() != seen.tensor.sizes()) untaken.insert(id);
    if (!wrong_values.contains(id)) {
      std::ranges::for_each(without_wrong, take_over);
      made_of[id].clear();
    }
    returned.insert(id);
    num_unreturned = 0;
    return verdict;
  }

  // The run may not have used a wrong value: those that follow will tell.
  void note_wrong(ValueId id, const Node& node) {
    const bool is_output = std::ranges::find(program->outputs, id) != program->outputs.end();
    if (is_output || (*program)[id].readers.empty()) return;
    if (without_wrong.empty()) without_wrong = std::vector<Lanes>(variants);
    wrong_values.insert(id);
    made_of[id] = wrong_below(node);
    made_of[id].insert(id);
  }

  // Whether the value was made of wrong ones, as they were returned, or without.
  void compare_without(ValueId id, const Node& node, const SeenValue& seen,
                       const Tolerance& tolerance, Verdict& verdict) {
    std::set<ValueId> below = wrong_below(node);
    if (below.empty()) return;
    Verdict without = best_verdict(without_wrong, id, &node, seen, tolerance);
    if (verdict.is_right() && without.is_right()) {
      for (const ValueId value : below) (untaken.contains(value) ? unused : harmless).insert(value);
    } else if (without.is_right()) {
      unused.merge(below);
      verdict = std::move(without);
    } else if (verdict.is_right()) {
      used.merge(below);
    }
  }

  Verdict best_verdict(std::vector<Lanes>& its, ValueId id, const Node* node, const SeenValue& seen,
                       const Tolerance& tolerance) {
    const bool is_strict = options.criterion.reference == ReferenceKind::kFloat64;
    const Tolerance& excuse = is_strict ? kExactTolerance : tolerance;
    const Lanes* ties = flipped && &its == &variants ? &*flipped : nullptr;
    std::vector<Verdict> verdicts;
    for (Lanes& lanes : its) {
      Verdict verdict = judge_in(ties, lanes, id, node, seen, excuse);
      const at::Tensor eager = lanes.eager(id);
      const Tolerance& most = verdict.not_judged.empty() ? excuse : tolerance;
      verdict.is_close = !verdict.is_right() && eager.defined() &&
                         compare_tensors(seen.tensor, eager, most).is_close;
      if (verdict.is_right()) return verdict;
      verdicts.push_back(std::move(verdict));
    }
    return *std::ranges::min_element(verdicts, {},
                                     [](const Verdict& verdict) { return verdict.own.rms_ratio; });
  }

  // `ties` is null if near ties make no other values, `node` for an output in the end.
  Verdict judge_in(const Lanes* ties, Lanes& lanes, ValueId id, const Node* node,
                   const SeenValue& seen, const Tolerance& tolerance) {
    if (!lanes.eager(id).defined()) return wrong("expected None");
    const std::optional<Arithmetic>& arithmetic = options.criterion.arithmetic;
    const at::Tensor eager = arithmetic ? round_to(*arithmetic, lanes.eager(id)) : lanes.eager(id);
    if (seen.tensor.sizes() != eager.sizes()) {
      return wrong(fmt::format("shape {}, expected {}", shape_list_text(seen.tensor.sizes()),
                               shape_list_text(eager.sizes())));
    }
    if (!seen.is_rounded() && same_bits(seen.tensor, eager)) return {};
    if (std::string doubt = lanes.doubt(id); !doubt.empty()) {
      return {.not_judged = std::move(doubt)};
    }
    const at::Tensor exact = lanes.exact(id);
    if (!exact.defined() || exact.sizes() != eager.sizes()) {
      return {.not_judged = "it has another shape in float64"};
    }
    if (node != nullptr && picked_indices(*program, *node) == id) {
      const double factor = options.has_outputs_only ? kErrorFactor : 1;
      const c10::ScalarType dtype = (*program)[node->inputs()[0]].dtype;
      return judge_indices(*node, seen.tensor, eager, lanes.exact_source(),
                           factor * lanes.source_error(),
                           factor * rounding_unit(dtype, arithmetic));
    }
    // There is nothing between two values of such a dtype.
    if (compares_exactly(eager.scalar_type()) || c10::isFloat8Type(eager.scalar_type())) {
      Span span = right_values(ties, lanes, node, id);
      span.include(exact);
      const int64_t count = eager.numel();
      return judge_steps(seen.tensor, eager, span, node != nullptr && is_rounded(*node, id),
                         arithmetic ? (count + 1) / 2 : count);
    }
    at::Tensor tensor = seen.tensor;
    if (ties != nullptr || (node != nullptr && is_rounded(*node, id))) {
      tensor = without_ties(right_values(ties, lanes, node, id), tensor, eager);
    }
    const double below = node == nullptr ? 0 : lanes.greatest_below(id);
    if (seen.step == 0) return judge_numbers(tensor, eager, exact, below, seen, tolerance);
    Verdict verdict =
        judge_numbers(tensor, eager, exact.clamp(seen.low, seen.high), below, seen, tolerance);
    const at::Tensor off = seen.tensor.to(at::kDouble) - eager.clamp(seen.low, seen.high);
    verdict.steps = count_steps(off.div(seen.step).round().abs());
    return verdict;
  }

  Verdict judge_numbers(const at::Tensor& value, const at::Tensor& eager, const at::Tensor& exact,
                        double greatest_below, const SeenValue& seen,
                        const Tolerance& tolerance) const {
    const double unit = rounding_unit(eager.scalar_type(), options.criterion.arithmetic);
    const double seen_unit = seen.rounded_to ? rounding_unit(*seen.rounded_to) : 0;
    const bool is_wide = unit <= rounding_unit(c10::kFloat);
    const ErrorKind kind{.unit = std::max(unit, seen_unit),
                         .step = seen.step,
                         .adds_in_unit = is_wide && seen_unit <= unit && seen.step == 0,
                         .is_accumulated = options.has_outputs_only};
    const ErrorComparison errors = compare_errors(value, eager, exact);
    // Roundings make an error of at most half of the digits in a node, or of the last ones of
    // larger values that it is made of.
    const double share = std::min(0.25, std::sqrt(kind.unit * std::max(1, num_unreturned)));
    const double most = std::max(share * errors.value_max, 64 * kind.unit * greatest_below);
    if (!options.criterion.arithmetic && errors.eager.max > most) {
      return {.not_judged = fmt::format(
                  "eager operators are further from float64 than roundings explain, by {:.3g}",
                  errors.eager.max)};
    }
    Verdict verdict{.own = judge_error(errors, kind)};
    if (verdict.own.problem.empty()) {
      verdict.own.problem = unexplained_elements(value, eager, exact, kind, tolerance);
    }
    return verdict;
  }

  // What near ties, of the node and of those before it, make of the value.
  Span right_values(const Lanes* ties, const Lanes& lanes, const Node* node, ValueId id) const {
    const bool rounds_here = node != nullptr && is_rounded(*node, id);
    const auto values_of = [&](const Lanes& its) {
      return rounds_here ? rounding_span(its, *node, id) : Span(its.eager(id));
    };
    Span span = values_of(lanes);
    if (ties != nullptr) span.include(values_of(*ties));
    return span;
  }

  const std::shared_ptr<const Program> program;
  const JudgeOptions options;
  const std::unordered_map<std::string_view, ValueId> ids;
  // The graph as an executor may have computed it from returned values: with rounded weights and
  // inputs, with those that were given, and with biases in integers.
  std::vector<Lanes> variants;
  // The first one, with the values that are rounded on the way, and were not returned, on the other
  // side of each near tie; nothing before the first near tie.
  std::optional<Lanes> flipped;
  // The variants that use only the returned values that are not wrong; empty before a wrong one.
  std::vector<Lanes> without_wrong;
  // Of the last node.
  std::set<ValueId> returned;
  // Nodes since the last returned value.
  int num_unreturned = 0;
  std::set<ValueId> wrong_values;
  // By ValueId: the wrong values that a value is made of, if no right one was returned since.
  std::vector<std::set<ValueId>> made_of;
  // Of another shape, so that nothing can be made of them.
  std::set<ValueId> untaken;
  // Wrong values without which alone others are right, with which alone, and either way.
  std::set<ValueId> unused;
  std::set<ValueId> used;
  std::set<ValueId> harmless;
  // The graph on the model's values.
  Lane model;
  bool model_draws = false;
};

Judge::Judge(const Case& graph_case, const JudgeOptions& options) : criterion_(options.criterion) {
  try {
    state_ = std::make_unique<State>(graph_case, options);
  } catch (const std::exception& error) {
    failure_ = message_text(error);
  }
}
Judge::~Judge() = default;

template <class Result, class Use>
Result Judge::unless_failed(const Result& otherwise, const Use& use) {
  if (!failure_.empty()) return otherwise;
  try {
    return use();
  } catch (const std::exception& error) {
    failure_ = message_text(error);
    return otherwise;
  }
}

Verdict Judge::judge(const std::string& name, const SeenValue& returned, const Tolerance& tolerance,
                     bool in_the_end) {
  Verdict verdict = unless_failed(Verdict(), [&] {
    return state_->judge(state_->ids.at(name), returned, tolerance, in_the_end);
  });
  if (!failure_.empty()) verdict.not_judged = failure_;
  return verdict;
}

bool Judge::describes(const std::string& name, const at::Tensor& of_model,
                      const Tolerance& tolerance) {
  return unless_failed(
      true, [&] { return state_->describes(state_->ids.at(name), of_model, tolerance); });
}

std::string Judge::unexplained_by_ties(const std::string& name, const at::Tensor& one,
                                       const at::Tensor& other) {
  const std::string problem = "there is no near tie that explains it";
  return unless_failed(problem, [&] {
    return state_->unexplained_by_ties(state_->ids.at(name), one, other).value_or(problem);
  });
}

std::vector<std::string> Judge::only_returned_wrong(bool harmless) const {
  std::vector<std::string> names;
  if (!state_) return names;
  std::set<ValueId> found = state_->unused;
  if (harmless) found.insert(state_->harmless.begin(), state_->harmless.end());
  for (const ValueId id : found) {
    if (!state_->used.contains(id)) names.push_back((*state_->program)[id].name);
  }
  return names;
}

}  // namespace torch_ir
