#include "torch_ir/verifier/arithmetic_report.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/isfinite.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "torch_ir/ir/module_paths.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/runtime/graph/state.h"
#include "torch_ir/verifier/compare_nodes.h"
#include "torch_ir/verifier/lanes.h"

namespace torch_ir {
namespace {

constexpr double kNoError = std::numeric_limits<double>::infinity();
constexpr size_t kNone = SIZE_MAX;

bool has_digits(c10::ScalarType dtype) {
  return c10::isFloatingType(dtype) || c10::isComplexType(dtype);
}

// How `narrow` has lost `exact`, if it has.
std::optional<LostValue::Kind> overflow(const at::Tensor& narrow, const at::Tensor& exact) {
  // Of masks: less than any value of a model, or greater than any.
  constexpr double kMask = -1e8;
  constexpr double kGreatest = 1e30;
  const at::Tensor is_lost = at::isfinite(narrow).logical_not().logical_and(at::isfinite(exact));
  if (!is_lost.any().item<bool>()) return std::nullopt;
  const at::Tensor size = exact.is_complex() ? exact.abs() : exact.to(c10::kDouble);
  const at::Tensor is_mask = size.le(kMask).logical_or(size.abs().ge(kGreatest));
  const at::Tensor lost = narrow.masked_select(is_lost.logical_and(is_mask.logical_not()));
  if (lost.numel() == 0) return std::nullopt;
  return lost.isnan().any().item<bool>() ? LostValue::Kind::kNotANumber
                                         : LostValue::Kind::kInfinity;
}

class Reporter {
 public:
  Reporter(const Case& graph_case, Arithmetic arithmetic, const std::vector<std::string>& inside)
      : program_(*graph_case.program),
        arithmetic_(arithmetic),
        modules_(module_paths(program_)),
        given_(graph_case),
        lanes_(in_float64(graph_case), round_to(arithmetic, graph_case), arithmetic, inside),
        signal_(program_.values.size(), kNoError),
        is_lost_(program_.values.size()),
        first_faint_(program_.values.size(), kNone),
        is_compared_(program_.values.size()) {
    for (const ValueId value : compared_values(program_)) is_compared_[value] = true;
  }

  ArithmeticReport run() {
    report_.arithmetic = arithmetic_;
    for (const GraphInput& input : program_.inputs) {
      if (program_[input.value].readers.empty()) continue;
      const at::Tensor given = tensor_of(given_, input.value);
      if (!given.defined() || !has_digits(given.scalar_type())) continue;
      note({.value = input.target.empty() ? program_[input.value].name : input.target}, input.value,
           round_to(arithmetic_, given), given, kNoError);
    }
    for (const Node& node : program_.nodes) advance(node);
    finish();
    return std::move(report_);
  }

 private:
  void advance(const Node& node) {
    double of_inputs = kNoError;
    bool reads_lost = false;
    size_t first_faint = kNone;
    node.for_each_read([&](ValueId read) {
      first_faint = std::min(first_faint, first_faint_[read]);
      of_inputs = std::min(of_inputs, signal_[read]);
      reads_lost = reads_lost || is_lost_[read];
    });
    const size_t index = lanes_.next_node();
    lanes_.advance();
    lanes_.settle();
    for (const ValueId output : node.outputs) {
      const at::Tensor made = lanes_.eager(output);
      is_lost_[output] = reads_lost;
      first_faint_[output] = first_faint;
      if (!made.defined() || !has_digits(made.scalar_type()) || !is_compared_[output]) continue;
      const at::Tensor exact = lanes_.exact(output);
      if (!exact.defined() || !lanes_.doubt(output).empty()) continue;
      ValueDetail place = place_of(program_, output);
      place.module = modules_.at(index);
      note(std::move(place), output, made, exact, of_inputs);
    }
  }

  void note(ValueDetail place, ValueId id, const at::Tensor& made, const at::Tensor& exact,
            double of_inputs) {
    if (made.sizes() != exact.sizes() || is_lost_[id]) return;
    if (const auto kind = overflow(made, exact)) {
      is_lost_[id] = true;
      if (!overflow_) overflow_ = LostValue{std::move(place), *kind};
      return;
    }
    const ErrorComparison errors = compare_errors(made, made, exact);
    if (errors.num_compared > 0) signal_[id] = snr_of(errors.value_rms, errors.run.rms);
    if (signal_[id] < kLeastSignalToNoise) {
      first_faint_[id] = std::min(first_faint_[id], faint_.size());
      faint_.push_back(place);
    }
    const double typical = snr_of(1, 0.4 * rounding_unit(arithmetic_));
    const double loss = std::min(of_inputs, typical) - signal_[id];
    if (place.index && loss > 0) report_.losses.push_back({std::move(place), signal_[id], loss});
  }

  void finish() {
    for (const ValueId output : program_.outputs) {
      const bool is_faint = signal_[output] < kLeastSignalToNoise;
      ArithmeticReport::Output& entry = report_.outputs.emplace_back();
      entry.name = program_[output].name;
      entry.is_lost = is_lost_[output] || is_faint;
      entry.doubt = lanes_.doubt(output);
      if (!std::isinf(signal_[output])) entry.signal_to_noise = signal_[output];
      if (is_lost_[output]) report_.first_lost = overflow_;
      if (is_faint && !report_.first_lost) {
        report_.first_lost = LostValue{faint_.at(first_faint_[output]), LostValue::Kind::kDigits};
      }
    }
    std::vector<NodeLoss>& losses = report_.losses;
    std::ranges::stable_sort(losses, std::ranges::greater(), &NodeLoss::loss);
    if (losses.size() > kMaxNodeLosses) losses.resize(kMaxNodeLosses);
  }

  const Program& program_;
  const Arithmetic arithmetic_;
  const std::vector<std::string> modules_;
  Case given_;
  Lanes lanes_;
  ArithmeticReport report_;
  // By ValueId: the SNR in dB, infinite if unknown; whether it is made from an overflow.
  std::vector<double> signal_;
  std::vector<bool> is_lost_;
  // The place in `faint_` of the first one that it is made of.
  std::vector<size_t> first_faint_;
  std::vector<bool> is_compared_;
  std::optional<LostValue> overflow_;
  // The values without a right digit.
  std::vector<ValueDetail> faint_;
};

}  // namespace

bool has_floating_point(const Graph& graph) {
  return std::ranges::any_of(graph.values, [](const Value& value) {
    return !value.name.empty() && !value.is_scalar && has_digits(value.dtype);
  });
}

Case round_to(Arithmetic arithmetic, const Case& graph_case) {
  Program program = *graph_case.program;
  Case rounded = graph_case;
  for (StateDict* tensors : {&rounded.weights, &rounded.constants, &program.constants}) {
    for (auto& item : *tensors) item.value() = round_to(arithmetic, item.value());
  }
  for (at::Tensor& input : rounded.inputs) input = round_to(arithmetic, input);
  return rounded.with(std::move(program));
}

std::string_view lost_name(LostValue::Kind kind) {
  constexpr std::string_view kNames[] = {"infinity", "NaN", "value without a right digit"};
  return kNames[static_cast<size_t>(kind)];
}

std::string lost_text(Arithmetic arithmetic, const LostValue& lost,
                      const std::function<std::string(const std::string&)>& code) {
  const ValueDetail& place = lost.place;
  const std::string text = fmt::format(
      "{} cannot hold this model: first {} {} {}", arithmetic_name(arithmetic),
      lost_name(lost.kind), place.index ? "at" : "in the weight or input", code(place.value));
  return place.module.empty() ? text : text + " in " + code(place.module);
}

ArithmeticReport report_on_arithmetic(const Case& graph_case, Arithmetic arithmetic,
                                      const std::vector<std::string>& inside) {
  try {
    return Reporter(graph_case, arithmetic, inside).run();
  } catch (const std::exception& error) {
    return {.arithmetic = arithmetic, .problem = message_text(error)};
  }
}

}  // namespace torch_ir
