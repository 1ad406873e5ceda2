#include "harness/stages/trials.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "torch_ir/weights/seeded_tensor.h"

namespace torch_ir {
namespace {

enum class TrialValues { kNormal, kZerosAndOnes, kLargeMagnitudes };

constexpr std::array kFirstTrials = {TrialValues::kNormal, TrialValues::kZerosAndOnes,
                                     TrialValues::kLargeMagnitudes};

// For floats of an unknown range.
constexpr ValueRange kUsualRange = {-1, 1};

// Larger ranges are rejected, or have infinite values.
constexpr double kLargestValue = 1e12;
constexpr double kLargestHalf = 6e4;

TrialValues values_of(int trial) {
  const auto index = static_cast<size_t>(trial);
  return index < kFirstTrials.size() ? kFirstTrials.at(index) : TrialValues::kNormal;
}

ValueRange large(const ValueRange& range, at::ScalarType dtype) {
  const bool is_half = dtype == at::kHalf || dtype == at::kComplexHalf;
  const double most = is_half ? kLargestHalf : kLargestValue;
  return {std::clamp(range.low * kLargeMagnitude, -most, most),
          std::clamp(range.high * kLargeMagnitude, -most, most)};
}

struct Pair {
  double first;
  double second;
};

Pair pair_of_integers(TrialValues values, const ValueRange& range) {
  const double least = std::round(range.low);
  const double most = std::max(least, std::round(range.high) - 1);
  if (values == TrialValues::kLargeMagnitudes) return {least, most};
  return {std::clamp(0.0, least, most), std::clamp(1.0, least, most)};
}

}  // namespace

std::string trial_name(int trial) {
  switch (values_of(trial)) {
    case TrialValues::kNormal:
      return trial == 0 ? "normal values"
                        : fmt::format("normal values {}",
                                      static_cast<size_t>(trial) + 2 - kFirstTrials.size());
    case TrialValues::kZerosAndOnes:
      return "zeros and ones";
    case TrialValues::kLargeMagnitudes:
      return "large magnitudes";
  }
  __builtin_unreachable();
}

std::string with_trial(std::string message, const std::string& trial) {
  if (trial.empty()) return message;
  size_t end = std::min(message.find('\n'), message.size());
  if (end > 0 && (message[end - 1] == '.' || message[end - 1] == ':')) --end;
  return message.insert(end, " (with " + trial + ")");
}

at::Tensor trial_values(int trial, const TrialInput& input, uint64_t seed,
                        const std::string& model) {
  const at::ScalarType dtype = input.normal.scalar_type();
  const bool is_integral = at::isIntegralType(dtype, /*includeBool=*/true);
  if (trial == 0 || (is_integral && !input.range)) return input.normal;
  const TrialValues values = values_of(trial);
  const ValueRange normal = input.range.value_or(kUsualRange);
  const auto draw = [&](at::ScalarType drawn, const ValueRange& range) {
    return seeded_tensor(seed, model, trial_name(trial) + "/input/" + input.name,
                         input.normal.sizes(), drawn, range);
  };
  if (dtype == at::kBool) return draw(dtype, {0, 2});
  if (is_integral && values == TrialValues::kNormal) return draw(dtype, normal);
  if (is_integral) {
    const Pair pair = pair_of_integers(values, normal);
    return (draw(at::kLong, {0, 2}) * static_cast<int64_t>(pair.second - pair.first) +
            static_cast<int64_t>(pair.first))
        .to(dtype);
  }
  // Zeros and ones are whole numbers for every range.
  if (values == TrialValues::kZerosAndOnes) return draw(at::kLong, {0, 2}).to(dtype);
  return draw(dtype, values == TrialValues::kNormal ? normal : large(normal, dtype));
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
