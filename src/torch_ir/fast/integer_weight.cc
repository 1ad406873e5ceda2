#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "torch_ir/fast/quantized.h"

namespace torch_ir {
namespace {

// The greatest magnitude of an integer of 8 bits.
constexpr int kMostSteps = 128;

struct Row {
  double scale;
  int64_t sum;
};

// Writes `weights` as multiples of a scale, of which the greatest is `steps`; nothing if they are
// not. Each weight allows an interval of scales, half a unit in the last place around it.
std::optional<Row> row_with(std::span<const float> weights, float greatest, int steps,
                            int8_t* integers) {
  constexpr double kHalfUnit = 0x1p-24;
  // Adding 3 * 2^22 rounds to an integer.
  constexpr float kRounder = 12582912.0F;
  const float inverse = static_cast<float>(steps) / greatest;
  double least = 0;
  double most = kInfinity;
  int64_t sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const float integer = (weights[i] * inverse + kRounder) - kRounder;
    if (integer == 0 ? weights[i] != 0 : integer > kMostSteps - 1) return std::nullopt;
    integers[i] = static_cast<int8_t>(integer);
    sum += static_cast<int64_t>(integer);
    if (integer == 0) continue;
    const double scale = static_cast<double>(weights[i]) / integer;
    least = std::max(least, scale * (1 - kHalfUnit));
    most = std::min(most, scale * (1 + kHalfUnit));
    if (least > most) return std::nullopt;
  }
  return Row{(least + most) / 2, sum};
}

std::optional<Row> row_of(std::span<const float> weights, int8_t* integers) {
  float greatest = 0;
  for (const float weight : weights) {
    if (!std::isfinite(weight)) return std::nullopt;
    greatest = std::max(greatest, std::abs(weight));
  }
  if (greatest == 0) {
    std::fill_n(integers, weights.size(), int8_t{0});
    return Row{1, 0};
  }
  // Most weights are quantised to 127 steps on either side.
  if (auto row = row_with(weights, greatest, kMostSteps - 1, integers)) return row;
  for (int steps = kMostSteps; steps > 0; --steps) {
    if (auto row = row_with(weights, greatest, steps, integers)) return row;
  }
  return std::nullopt;
}

}  // namespace

std::optional<IntegerWeight> integer_weight(const at::Tensor& weight) {
  const at::Tensor floats = weight.contiguous();
  IntegerWeight result{at::empty_like(floats, floats.options().dtype(at::kChar)), {}, {}};
  const auto size = static_cast<size_t>(floats.numel() / std::max<int64_t>(floats.size(0), 1));
  const float* from = floats.const_data_ptr<float>();
  auto* to = result.values.mutable_data_ptr<int8_t>();
  for (int64_t i = 0; i < floats.size(0); ++i, from += size, to += size) {
    const auto row = row_of({from, size}, to);
    if (!row) return std::nullopt;
    result.scales.push_back(row->scale);
    result.sums.push_back(row->sum);
  }
  return result;
}

}  // namespace torch_ir
