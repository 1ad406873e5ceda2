#include "harness/stages/trials.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_strided.h>
#include <fmt/format.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "torch_ir/verifier/verify.h"

namespace torch_ir {
namespace {

constexpr std::array kNames = {"normal values", "zeros and ones", "large magnitudes"};
constexpr int kZerosAndOnes = 1;
constexpr int kLargeMagnitudes = 2;

// For floats of an unknown range.
constexpr ValueRange kUsualRange = {-1, 1};

// Larger ranges are rejected, or have infinite values.
constexpr double kLargestValue = 1e12;
constexpr double kLargestHalf = 6e4;

ValueRange large(const ValueRange& range, at::ScalarType dtype) {
  const bool is_half = dtype == at::kHalf || dtype == at::kComplexHalf;
  const double most = is_half ? kLargestHalf : kLargestValue;
  return {std::clamp(range.low * kLargeMagnitude, -most, most),
          std::clamp(range.high * kLargeMagnitude, -most, most)};
}

std::pair<double, double> pair_of_integers(int trial, const ValueRange& range) {
  const double least = std::round(range.low);
  const double most = std::max(least, std::round(range.high) - 1);
  if (trial == kLargeMagnitudes) return {least, most};
  return {std::clamp(0.0, least, most), std::clamp(1.0, least, most)};
}

// Whether whole numbers of an unknown range have others in it.
bool has_others(const at::Tensor& numbers) {
  if (numbers.numel() == 0 || is_ordered(numbers)) return false;
  const auto least = numbers.min().item<double>();
  const auto most = numbers.max().item<double>();
  return (least < 0 || most > 1) && most - least < kLargestValue;
}

}  // namespace

std::string trial_name(int trial) {
  const auto index = static_cast<size_t>(trial);
  return index < kNames.size() ? kNames.at(index) : fmt::format("normal values {}", trial - 1);
}

std::string with_trial(std::string message, const std::string& trial) {
  if (trial.empty()) return message;
  size_t end = std::min(message.find('\n'), message.size());
  if (end > 0 && (message[end - 1] == '.' || message[end - 1] == ':')) --end;
  return message.insert(end, " (with " + trial + ")");
}

bool is_ordered(const at::Tensor& numbers) {
  const bool is_integral = at::isIntegralType(numbers.scalar_type(), /*includeBool=*/false);
  if (numbers.dim() != 1 || !is_integral) return false;
  const at::Tensor steps = numbers.to(at::kLong).diff();
  return (steps >= 0).all().item<bool>() || (steps <= 0).all().item<bool>();
}

at::Tensor trial_values(int trial, const TrialInput& input, uint64_t seed,
                        const std::string& model) {
  const at::Tensor& example = input.normal;
  const at::ScalarType dtype = example.scalar_type();
  const bool is_integral = at::isIntegralType(dtype, /*includeBool=*/true);
  const bool is_normal = trial != kZerosAndOnes && trial != kLargeMagnitudes;
  const bool is_unknown = is_integral && !input.range;
  const bool stays = is_unknown && (!is_normal || !has_others(example));
  if (trial == 0 || input.is_number || stays) return example;
  const ValueRange normal = input.range.value_or(kUsualRange);
  const auto draw = [&](at::ScalarType drawn, const ValueRange& range) {
    return seeded_tensor(seed, model, trial_name(trial) + "/input/" + input.name, example.sizes(),
                         drawn, range);
  };
  if (is_unknown) {
    const at::Tensor least = example.min().to(at::kLong);
    const at::Tensor size = example.max().to(at::kLong) - least + 1;
    const at::Tensor step = draw(at::kLong, {1, size.item<double>()}).flatten()[0];
    return ((example.to(at::kLong) - least + step).remainder(size) + least).to(dtype);
  }
  if (dtype == at::kBool) return draw(dtype, {0, 2});
  if (is_integral && !is_normal) {
    const auto [first, second] = pair_of_integers(trial, normal);
    return (draw(at::kLong, {0, 2}) * static_cast<int64_t>(second - first) +
            static_cast<int64_t>(first))
        .to(dtype);
  }
  // Zeros and ones are whole numbers for every range.
  if (trial == kZerosAndOnes) return draw(at::kLong, {0, 2}).to(dtype);
  return draw(dtype, is_normal ? normal : large(normal, dtype));
}

std::vector<TrialInputs> value_trials(int count, const std::vector<TrialInput>& inputs,
                                      uint64_t seed, const std::string& model) {
  std::vector<TrialInputs> trials;
  const auto is_enough = [&] { return std::ssize(trials) > count; };
  // Zeros and ones or large magnitudes may change nothing, and a step may be drawn again.
  for (int trial = 0; trial <= 2 * count + kLargeMagnitudes && !is_enough(); ++trial) {
    TrialInputs drawn{.name = trial_name(trial), .inputs = {}};
    for (const TrialInput& it : inputs) {
      const at::Tensor values = trial_values(trial, it, seed, model);
      const bool overlaps = at::has_internal_overlap(it.normal) == at::MemOverlap::Yes;
      at::Tensor distinct = values;
      for (int64_t dim = 0; overlaps && dim < values.dim(); ++dim) {
        if (it.normal.stride(dim) == 0) distinct = distinct.narrow(dim, 0, 1);
      }
      // Guards may read strides.
      drawn.inputs.push_back(
          overlaps ? distinct.expand_as(values)
                   : at::empty_strided(values.sizes(), it.normal.strides(), values.options())
                         .copy_(values));
    }
    const auto is_same = [&](const TrialInputs& it) {
      return compare_outputs(it.inputs, drawn.inputs, {}, {.fixed = kExactTolerance}).is_valid;
    };
    if (std::ranges::none_of(trials, is_same)) trials.push_back(std::move(drawn));
  }
  if (!is_enough() && !inputs.empty()) {
    trials.push_back({"further values", {}, "masks, ordered and equal whole numbers stay"});
  }
  trials.erase(trials.begin());
  return trials;
}

std::vector<at::Tensor> seeded_inputs(const ModelSpec& spec, uint64_t seed,
                                      const std::string& model) {
  std::vector<at::Tensor> tensors;
  for (const ModelInput& input : spec.inputs) {
    tensors.push_back(seeded_tensor(seed, model, "input/" + input.name, input.shape, input.dtype,
                                    {input.low, input.high}));
  }
  return tensors;
}

void fill_weights(torch::nn::Module& module, uint64_t seed, const std::string& model) {
  const at::NoGradGuard no_grad;
  const auto assign = [&](const std::string& name, at::Tensor& target, ValueRange range) {
    target.copy_(
        seeded_tensor(seed, model, "weight/" + name, target.sizes(), target.scalar_type(), range));
  };
  for (auto& item : module.named_parameters()) {
    if (item.value().defined())
      assign(item.key(), item.value(), parameter_range(item.key(), item.value().sizes()));
  }
  for (auto& item : module.named_buffers()) {
    const std::optional<ValueRange> range = buffer_range(item.key());
    if (range && item.value().defined()) assign(item.key(), item.value(), *range);
  }
}

}  // namespace torch_ir
