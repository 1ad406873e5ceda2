#include "torch_ir/verifier/own_error.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/isfinite.h>
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
#include "torch_ir/verifier/picked_indices.h"
#include "torch_ir/verifier/replacing_run.h"
#include "torch_ir/verifier/rounding.h"

namespace torch_ir {
namespace {

// The greatest relative error of rounding to `dtype`, computed in an arithmetic if it is wide.
double unit_of(c10::ScalarType dtype, std::optional<Arithmetic> arithmetic) {
  if (c10::isFloat8Type(dtype)) return 0x1p-3;
  if (dtype == c10::kHalf) return 0x1p-11;
  if (dtype == c10::kBFloat16) return 0x1p-8;
  if (arithmetic) return rounding_unit(*arithmetic);
  return c10::toRealValueType(dtype) == c10::kDouble ? 0x1p-53 : 0x1p-24;
}

// A computation with certain weights, in float64 and as the yardstick.
struct Variant {
  ReplacingRun wide;
  ReplacingRun narrow;
  // What the last node compared, if it picked indices.
  at::Tensor wide_source = {};
  at::Tensor narrow_source = {};

  void advance(const Graph& graph, const Node& node) {
    if (picked_indices(graph, node)) {
      wide_source = wide.value(node.inputs()[0]).to(c10::kDouble);
      narrow_source = narrow.value(node.inputs()[0]).to(c10::kDouble);
    }
    wide.advance();
    narrow.advance();
  }

  void replace(ValueId id, const at::Tensor& value) {
    wide.replace(id, value);
    narrow.replace(id, value);
  }
};

// The graph as an executor may have computed it from the values that it returned, except those that
// were wrong and that it did not use.
struct Course {
  // With rounded weights and inputs, and with those that were given.
  std::vector<Variant> variants;
  std::vector<std::string> unused = {};
  // Whether it has computed another value than the first course.
  bool differs = false;
};

// How many of `count` elements may be off by one step because the value before rounding is off by
// `roundings` of `unit`: a value of q steps crosses a tie with probability q * error. At most half.
int64_t most_off_by_one(int64_t count, double unit, double roundings) {
  constexpr double kMostSteps = 128;
  const double expected = std::min(0.5, kMostSteps * roundings * unit) * static_cast<double>(count);
  return std::min(static_cast<int64_t>(expected + 3 * std::sqrt(expected) + 1), (count + 1) / 2);
}

// Integers and booleans: they are right if they equal either computation; those that were rounded
// to steps, if no more than `most` elements are off, by one.
ArithmeticVerdict judge_whole(const at::Tensor& returned, const at::Tensor& narrow,
                              const at::Tensor& wide, int64_t most_off) {
  if (at::equal(returned, narrow) || at::equal(returned, wide)) return {};
  const at::Tensor off = returned.to(c10::kDouble).sub(narrow.to(c10::kDouble)).abs();
  const double most = off.max().item<double>();
  const int64_t count = off.ne(0).sum().item<int64_t>();
  if (most <= 1 && count <= most_off) return {};
  return {
      .max_ratio = most,
      .problem = fmt::format("{} of {} elements differ, by at most {}", count, off.numel(), most)};
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
    for (Course& course : courses) std::ranges::for_each(course.variants, use);
  }

  // The yardstick rounds values that were not returned.
  void round_rest(size_t step) {
    for (const ValueId output : program->nodes[step].outputs) {
      const Value& value = (*program)[output];
      if (value.is_scalar || returned.contains(output) || inside.contains(value.name)) continue;
      for_each_variant([&](Variant& variant) { round_in(variant, output); });
    }
  }

  void round_in(Variant& variant, ValueId id) const {
    const at::Tensor made = variant.narrow.value(id);
    if (made.defined()) variant.narrow.replace(id, rounded(made));
  }

  OwnError judge(ValueId id, const SeenValue& seen, const Tolerance& its_tolerance) {
    tolerance = its_tolerance;
    num_other_choices = 0;
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
      error.num_other_choices = num_other_choices;
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
      OwnError error{.verdict = judge_in(variant, id, seen)};
      const at::Tensor narrow = variant.narrow.value(id);
      error.is_close = !error.is_right() && narrow.defined() &&
                       compare_tensors(seen.tensor, narrow, tolerance).is_close;
      errors.push_back(std::move(error));
      if (errors.back().is_right()) return errors.back();
    }
    return *std::ranges::min_element(errors, {},
                                     [](const OwnError& error) { return error.verdict.rms_ratio; });
  }

  ArithmeticVerdict judge_in(const Variant& variant, ValueId id, const SeenValue& seen) {
    const at::Tensor wide = variant.wide.value(id);
    const at::Tensor narrow = variant.narrow.value(id);
    if (!wide.defined() || !narrow.defined()) return {.problem = "expected None"};
    const at::Tensor& tensor = seen.tensor;
    if (tensor.sizes() != narrow.sizes()) {
      return {.problem = fmt::format("shape {}, expected {}", shape_list_text(tensor.sizes()),
                                     shape_list_text(narrow.sizes()))};
    }
    if (compares_exactly(narrow.scalar_type())) {
      const Node& node = program->nodes[(*program)[id].producer.value()];
      if (picked_indices(*program, node) == id) return judge_indices(variant, node, tensor, narrow);
      const double unit = unit_of(c10::kFloat, options.arithmetic);
      const double roundings = (options.arithmetic ? 1 : 4) * options.error_factor;
      return judge_whole(
          tensor, narrow, wide,
          rounds(*program, node) ? most_off_by_one(tensor.numel(), unit, roundings) : 0);
    }
    const double unit = unit_of(narrow.scalar_type(), options.arithmetic);
    const double seen_unit = seen.rounded_to ? unit_of(*seen.rounded_to, std::nullopt) : 0;
    const at::Tensor exact = seen.step > 0 ? wide.clamp(seen.low, seen.high) : wide;
    const bool is_wide = unit <= unit_of(c10::kFloat, std::nullopt);
    return judge_own(compare_errors(tensor, rounded(narrow), exact), std::max(unit, seen_unit),
                     options.error_factor, seen.step,
                     is_wide && seen_unit <= unit && seen.step == 0);
  }

  ArithmeticVerdict judge_indices(const Variant& variant, const Node& node,
                                  const at::Tensor& indices, const at::Tensor& expected) {
    const at::Tensor off = variant.narrow_source.sub(variant.wide_source).abs();
    const at::Tensor finite = off.masked_select(at::isfinite(off));
    const double error = finite.numel() == 0 ? 0 : finite.max().item<double>();
    const double unit = unit_of((*program)[node.inputs()[0]].dtype, options.arithmetic);
    IndexComparison compared =
        compare_indices(node, indices, expected, variant.wide_source, error, unit);
    num_other_choices = compared.num_explained;
    return {.problem = std::move(compared.problem)};
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
  int64_t num_other_choices = 0;
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

std::vector<std::string> OwnErrors::ineffective() const {
  return state_ ? state_->ineffective : std::vector<std::string>();
}

}  // namespace torch_ir
