#include "torch_ir/verifier/own_error.h"

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
#include <iterator>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/tolerance.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/operators/operator_table.h"
#include "torch_ir/operators/random_state.h"
#include "torch_ir/runtime/graph/memory_overlap.h"
#include "torch_ir/verifier/float64_run.h"
#include "torch_ir/verifier/integer_biases.h"
#include "torch_ir/verifier/picked_indices.h"
#include "torch_ir/verifier/replacing_run.h"
#include "torch_ir/verifier/rounding.h"

namespace torch_ir {
namespace {

at::Tensor double_copy(const at::Tensor& tensor) {
  return tensor.to(c10::kDouble, /*non_blocking=*/false, /*copy=*/true);
}

double greatest_finite(const at::Tensor& tensor) {
  const at::Tensor finite = tensor.masked_select(at::isfinite(tensor));
  return finite.numel() == 0 ? 0 : finite.abs().max().item<double>();
}

// A computation with certain weights, in float64 and as the yardstick.
struct Variant {
  ReplacingRun wide;
  ReplacingRun narrow;
  // What the last node rounded, or compared to pick indices, in float64; and all that it read.
  at::Tensor wide_source = {};
  at::Tensor narrow_source = {};
  std::vector<at::Tensor> read = {};

  void advance(const Graph& graph, const Node& node) {
    if (rounds_or_picks(graph, node)) {
      const std::vector<ValueId> inputs = node.inputs();
      wide_source = double_copy(wide.value(inputs[0]));
      narrow_source = double_copy(narrow.value(inputs[0]));
      read.clear();
      for (const ValueId input : inputs) read.push_back(narrow.value(input));
    }
    wide.advance();
    narrow.advance();
  }

  double source_error() const { return greatest_finite(narrow_source.sub(wide_source)); }

  void replace(ValueId id, const at::Tensor& value) {
    wide.replace(id, value);
    narrow.replace(id, value);
  }
};

// The graph as an executor may have computed it from the values that it returned, except those that
// were wrong and that it did not use.
struct Course {
  // With rounded weights and inputs, with those that were given, and with biases in integers.
  std::vector<Variant> variants;
  // The first one, with the values that are rounded on the way, and were not returned, on the other
  // side of each near tie; nothing before the first near tie.
  std::optional<Variant> flipped = std::nullopt;
  std::vector<std::string> unused = {};
  // Whether it has computed another value than the first course.
  bool differs = false;
};

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

// Whether there is nothing between two values of the dtype: whole numbers and float8.
bool has_steps(c10::ScalarType dtype) {
  return compares_exactly(dtype) || c10::isFloat8Type(dtype);
}

// Values in steps are right if they are in the span, and if at most `most_off` differ from the
// yardstick's.
OwnError judge_steps(const at::Tensor& returned, const at::Tensor& narrow, const Span& span,
                     bool is_rounded, int64_t most_off) {
  const auto number_of = [](const at::Tensor& mask) { return mask.sum().item<int64_t>(); };
  const at::Tensor off = Span(narrow).distance(returned).abs();
  const at::Tensor is_off = off.ne(0);
  const at::Tensor is_far =
      compares_exactly(narrow.scalar_type()) ? off.gt(1) : at::zeros_like(is_off);
  OwnError error;
  error.steps.num_off_by_more = number_of(is_far);
  error.steps.num_off_by_one = number_of(is_off) - error.steps.num_off_by_more;
  error.steps.num_wrong = number_of(span.distance(returned).ne(0));
  const int64_t num_off = number_of(is_off);
  if (num_off > most_off) error.steps.num_wrong = num_off;
  if (error.steps.num_wrong == 0) return error;
  const double most = off.max().item<double>();
  error.verdict.max_ratio = most;
  error.verdict.problem =
      fmt::format("{} of {} elements differ, by at most {}{}", num_off, off.numel(), most,
                  is_rounded ? ", which rounding does not explain" : "");
  return error;
}

}  // namespace

struct OwnErrors::State {
  State(const Case& graph_case, const ArithmeticOptions& its_options)
      : program(graph_case.program),
        options(its_options),
        inside(options.inside.begin(), options.inside.end()),
        model(graph_case, /*is_wide=*/false) {
    courses.emplace_back();
    if (options.arithmetic) add_variant(round_to(*options.arithmetic, graph_case));
    add_variant(graph_case);
    if (!options.arithmetic) {
      if (const auto integers = with_integer_biases(graph_case)) add_variant(*integers);
    }
    for (ValueId id = 0; id < program->values.size(); ++id) ids.emplace((*program)[id].name, id);
  }

  void add_variant(const Case& graph_case) {
    courses[0].variants.push_back({.wide = {in_float64(graph_case), /*is_wide=*/true},
                                   .narrow = {graph_case, /*is_wide=*/false}});
  }

  const Variant& first() const { return courses[0].variants[0]; }

  at::Tensor rounded(const at::Tensor& value) const {
    return options.arithmetic ? round_to(*options.arithmetic, value) : value;
  }

  void advance() {
    const size_t step = first().wide.next_step();
    if (step > 0) round_rest(step - 1);
    drop_ineffective(step);
    has_drawn = false;
    for_each_variant([&](Variant& variant) {
      const RandomStateGuard random;
      const RandomState before;
      variant.advance(*program, program->nodes[step]);
      has_drawn = has_drawn || (may_draw(program->nodes[step].target) && before.has_moved());
    });
    returned.clear();
    for (size_t i = 1; i < courses.size(); ++i) {
      for (const ValueId output : program->nodes[step].outputs) {
        const at::Tensor used = first().narrow.value(output);
        const at::Tensor unused = courses[i].variants[0].narrow.value(output);
        const bool is_same =
            used.defined() == unused.defined() && (!used.defined() || same_bits(used, unused));
        courses[i].differs = courses[i].differs || !is_same;
      }
    }
  }

  bool describes(ValueId id, const at::Tensor& of_model, const Tolerance& its_tolerance) {
    const uint32_t producer = (*program)[id].producer.value();
    while (model.next_step() <= producer) {
      const RandomStateGuard random;
      const RandomState before;
      model.advance();
      model_draws = before.has_moved();
    }
    const bool is_last = model.next_step() == producer + 1;
    const at::Tensor made = is_last ? model.value(id) : at::Tensor();
    const bool is_free = model_draws || facts_of(program->nodes[producer].target).makes_empty;
    const bool is_close =
        is_free || !made.defined() || compare_tensors(of_model, made, its_tolerance).is_close;
    if (is_last) model.replace(id, of_model);
    return is_close;
  }

  std::optional<TieEffect> effect_of_ties(ValueId id) {
    while (first().wide.next_step() <= (*program)[id].producer.value_or(0)) advance();
    const std::optional<Variant>& flipped = courses[0].flipped;
    if (!flipped) return std::nullopt;
    return TieEffect{first().narrow.value(id), flipped->narrow.value(id)};
  }

  // Drops the courses that leave one value unused whose readers, all before `step`, did not care.
  void drop_ineffective(size_t step) {
    const auto is_ineffective = [&](const Course& course) {
      if (course.unused.size() != 1 || course.differs) return false;
      const std::vector<uint32_t>& readers = (*program)[ids.at(course.unused[0])].readers;
      return std::ranges::all_of(readers, [&](uint32_t reader) { return reader < step; });
    };
    const auto dropped = std::ranges::find_if(courses, is_ineffective);
    if (dropped == courses.end()) return;
    ineffective.push_back(dropped->unused[0]);
    courses.erase(dropped);
  }

  template <class Use>
  void for_each_variant(const Use& use) {
    for (Course& course : courses) {
      std::ranges::for_each(course.variants, use);
      if (course.flipped) use(*course.flipped);
    }
  }

  // The yardstick rounds values that were not returned. Float64 goes on from the same steps and
  // indices.
  void round_rest(size_t step) {
    const Node& node = program->nodes[step];
    for (const ValueId output : node.outputs) {
      const Value& value = (*program)[output];
      if (value.is_scalar || returned.contains(output)) continue;
      const bool is_inside = inside.contains(value.name);
      if (!is_inside) for_each_variant([&](Variant& variant) { round_in(variant, output); });
      if (!is_rounded(node, output) && picked_indices(*program, node) != output) continue;
      for (Course& course : courses) flip_ties(course, node, output);
      for_each_variant([&](Variant& variant) {
        const at::Tensor made = variant.narrow.value(output);
        if (made.defined()) variant.wide.replace(output, made);
      });
    }
  }

  bool is_rounded(const Node& node, ValueId output) const {
    const auto rounded = rounded_output(*program, node);
    return rounded && node.outputs[*rounded] == output;
  }

  void flip_ties(Course& course, const Node& node, ValueId output) const {
    if (!is_rounded(node, output)) return;
    const Variant& from = course.flipped ? *course.flipped : course.variants[0];
    const at::Tensor made = from.narrow.value(output);
    const Span span = rounding_span(from, node, output);
    if (!span.has_width()) return;
    const at::Tensor other = at::where(made.to(span.dtype).eq(span.low), span.high, span.low);
    if (!course.flipped) course.flipped = course.variants[0];
    course.flipped->narrow.replace(output, other);
  }

  // What the node may round to, if its input is wrong by the error of the yardstick, or by that of
  // a rounding, times the limit.
  Span rounding_span(const Variant& variant, const Node& node, ValueId output) const {
    Span span(variant.narrow.value(output));
    const c10::ScalarType dtype = variant.read[0].scalar_type();
    const double rounding =
        2 * rounding_unit(dtype, options.arithmetic) * greatest_finite(variant.wide_source);
    const double reach = options.error_factor * std::max(variant.source_error(), rounding);
    for (const double error : {-reach, reach}) {
      span.include(value_alone(*program, node, output, variant.read,
                               variant.wide_source.add(error).to(dtype)));
    }
    return span;
  }

  void round_in(Variant& variant, ValueId id) const {
    const at::Tensor made = variant.narrow.value(id);
    if (made.defined()) variant.narrow.replace(id, rounded(made));
  }

  OwnError judge(ValueId id, const SeenValue& seen, const Tolerance& its_tolerance) {
    tolerance = its_tolerance;
    const Value& value = (*program)[id];
    const uint32_t producer = value.producer.value();
    while (first().wide.next_step() <= producer) advance();
    if (first().wide.next_step() != producer + 1) return {.not_judged = "it came too late"};
    returned.insert(id);
    OwnError error;
    std::vector<Course> leaving;
    if (has_drawn) {
      error.not_judged = "its node draws random numbers";
    } else if (!facts_of(program->nodes[producer].target).makes_empty) {
      error = judge_courses(id, seen);
      if (!error.is_right()) leaving = courses_without(id);
    }
    for_each_variant([&](Variant& variant) { variant.replace(id, seen.tensor); });
    std::ranges::move(leaving, std::back_inserter(courses));
    return error;
  }

  // The executor may not have used a wrong value: those that follow will tell. Returns the courses
  // without it: one that uses all others, and the last one, which uses no wrong value.
  std::vector<Course> courses_without(ValueId id) {
    const bool is_output = std::ranges::find(program->outputs, id) != program->outputs.end();
    if (is_output || (*program)[id].readers.empty()) return {};
    std::vector<Course> leaving;
    if (courses.size() < kMaxCourses) leaving.push_back({.variants = courses[0].variants});
    if (courses.size() > 1) {
      leaving.push_back(std::move(courses.back()));
      courses.pop_back();
    }
    for (Course& course : leaving) {
      course.unused.push_back((*program)[id].name);
      for (Variant& variant : course.variants) round_in(variant, id);
    }
    return leaving;
  }

  // Drops the courses in which the value is wrong, if it is right in any.
  OwnError judge_courses(ValueId id, const SeenValue& seen) {
    std::vector<OwnError> errors;
    for (const Course& course : courses) errors.push_back(best_error(course, id, seen));
    const auto right = std::ranges::find_if(errors, &OwnError::is_right);
    if (right == errors.end()) return errors[0];
    std::vector<Course> kept;
    for (size_t i = 0; i < courses.size(); ++i) {
      if (errors[i].is_right()) kept.push_back(std::move(courses[i]));
    }
    courses = std::move(kept);
    right->exonerated = std::exchange(courses[0].unused, {});
    return *right;
  }

  OwnError best_error(const Course& course, ValueId id, const SeenValue& seen) {
    std::vector<OwnError> errors;
    for (const Variant& variant : course.variants) {
      OwnError error = judge_in(course, variant, id, seen);
      const at::Tensor narrow = variant.narrow.value(id);
      error.is_close = !error.is_right() && narrow.defined() &&
                       compare_tensors(seen.tensor, narrow, tolerance).is_close;
      errors.push_back(std::move(error));
      if (errors.back().is_right()) return errors.back();
    }
    return *std::ranges::min_element(errors, {},
                                     [](const OwnError& error) { return error.verdict.rms_ratio; });
  }

  OwnError judge_in(const Course& course, const Variant& variant, ValueId id,
                    const SeenValue& seen) const {
    const at::Tensor wide = variant.wide.value(id);
    const at::Tensor narrow = variant.narrow.value(id);
    if (!wide.defined() || !narrow.defined()) return wrong("expected None");
    if (seen.tensor.sizes() != narrow.sizes()) {
      return wrong(fmt::format("shape {}, expected {}", shape_list_text(seen.tensor.sizes()),
                               shape_list_text(narrow.sizes())));
    }
    const Node& node = program->nodes[(*program)[id].producer.value()];
    if (picked_indices(*program, node) == id) {
      return judge_indices(variant, node, seen.tensor, narrow);
    }
    const bool is_step = has_steps(narrow.scalar_type());
    if (is_step && same_bits(seen.tensor, narrow)) return {};
    if (is_step) {
      Span span = right_values(course, variant, node, id);
      span.include(wide);
      const int64_t count = narrow.numel();
      return judge_steps(seen.tensor, narrow, span, is_rounded(node, id),
                         options.arithmetic ? (count + 1) / 2 : count);
    }
    at::Tensor tensor = seen.tensor;
    if (course.flipped || is_rounded(node, id)) {
      tensor = without_ties(right_values(course, variant, node, id), tensor, narrow);
    }
    const double unit = rounding_unit(narrow.scalar_type(), options.arithmetic);
    const double seen_unit = seen.rounded_to ? rounding_unit(*seen.rounded_to, std::nullopt) : 0;
    const at::Tensor exact = seen.step > 0 ? wide.clamp(seen.low, seen.high) : wide;
    const bool is_wide = unit <= rounding_unit(c10::kFloat, std::nullopt);
    return {.verdict = judge_own(compare_errors(tensor, rounded(narrow), exact),
                                 std::max(unit, seen_unit), options.error_factor, seen.step,
                                 is_wide && seen_unit <= unit && seen.step == 0)};
  }

  // What near ties, of the node and of those before it, make of the value.
  Span right_values(const Course& course, const Variant& variant, const Node& node,
                    ValueId id) const {
    const bool rounds_here = is_rounded(node, id);
    Span span = rounds_here ? rounding_span(variant, node, id) : Span(variant.narrow.value(id));
    if (!course.flipped) return span;
    span.include(course.flipped->narrow.value(id));
    if (!rounds_here) return span;
    const Span other = rounding_span(*course.flipped, node, id);
    span.include(other.low);
    span.include(other.high);
    return span;
  }

  // The value, less what near ties explain.
  static at::Tensor without_ties(const Span& span, const at::Tensor& value,
                                 const at::Tensor& narrow) {
    return at::where(at::isfinite(narrow).logical_and(at::isfinite(value)),
                     narrow.to(span.dtype).add(span.distance(value)), value.to(span.dtype));
  }

  static OwnError wrong(std::string problem) {
    return {.verdict = {.problem = std::move(problem)}};
  }

  OwnError judge_indices(const Variant& variant, const Node& node, const at::Tensor& indices,
                         const at::Tensor& expected) const {
    const double unit = rounding_unit((*program)[node.inputs()[0]].dtype, options.arithmetic);
    IndexComparison compared =
        compare_indices(node, indices, expected, variant.wide_source, variant.source_error(), unit);
    OwnError error = wrong(std::move(compared.problem));
    error.num_other_choices = compared.num_explained;
    error.steps = {.num_off_by_more = compared.num_explained + compared.num_wrong,
                   .num_wrong = compared.num_wrong};
    return error;
  }

  static constexpr size_t kMaxCourses = 4;

  const std::shared_ptr<const Program> program;
  const ArithmeticOptions options;
  const std::unordered_set<std::string> inside;
  std::unordered_map<std::string_view, ValueId> ids;
  // The first one uses all returned values but exonerated ones.
  std::vector<Course> courses;
  // Values of the last node.
  std::unordered_set<ValueId> returned;
  bool has_drawn = false;
  // The graph on the model's values.
  ReplacingRun model;
  bool model_draws = false;
  // Of the value that is being judged.
  Tolerance tolerance;
  std::vector<std::string> ineffective;
};

OwnErrors::OwnErrors(const Case& graph_case, const ArithmeticOptions& options) {
  try {
    state_ = std::make_unique<State>(graph_case, options);
  } catch (const std::exception& error) {
    failure_ = message_text(error);
  }
}
OwnErrors::~OwnErrors() = default;

OwnError OwnErrors::judge(const std::string& name, const SeenValue& returned,
                          const Tolerance& tolerance) {
  if (!failure_.empty()) return {.not_judged = failure_};
  try {
    return state_->judge(state_->ids.at(name), returned, tolerance);
  } catch (const std::exception& error) {
    failure_ = message_text(error);
    return {.not_judged = failure_};
  }
}

bool OwnErrors::describes(const std::string& name, const at::Tensor& of_model,
                          const Tolerance& tolerance) {
  if (!failure_.empty()) return true;
  try {
    return state_->describes(state_->ids.at(name), of_model, tolerance);
  } catch (const std::exception& error) {
    failure_ = message_text(error);
    return true;
  }
}

std::optional<TieEffect> OwnErrors::effect_of_ties(const std::string& name) {
  if (!failure_.empty()) return std::nullopt;
  try {
    return state_->effect_of_ties(state_->ids.at(name));
  } catch (const std::exception& error) {
    failure_ = message_text(error);
    return std::nullopt;
  }
}

std::vector<std::string> OwnErrors::ineffective() const {
  return state_ ? state_->ineffective : std::vector<std::string>();
}

}  // namespace torch_ir
