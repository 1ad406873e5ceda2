#include "torch_ir/weights/seeded_tensor.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/view_as_complex.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

constexpr double kStepsPerUnit = 1 << 20;
// Beyond this, a range does not fit into 64 bits of steps.
constexpr double kLargestBound = 1e12;

uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Random access to the splitmix64 sequence that starts at `key`.
uint64_t element(uint64_t key, uint64_t index) {
  return mix(key + (index + 1) * 0x9e3779b97f4a7c15u);
}

// FNV-1a.
uint64_t hash(uint64_t state, std::string_view bytes) {
  for (const char byte : bytes) state = (state ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  return state;
}

uint64_t make_key(uint64_t seed, std::string_view model, std::string_view tensor) {
  uint64_t state = 0xcbf29ce484222325u ^ mix(seed);
  state = hash(state, model);
  state = hash(state, std::string_view("\0", 1));
  return mix(hash(state, tensor));
}

// Maps `bits` to [0, range).
uint64_t bounded(uint64_t bits, uint64_t range) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((static_cast<Wide>(bits) * range) >> 64);
}

std::pair<int64_t, uint64_t> to_steps(double low, double high, double steps_per_unit) {
  const int64_t first = std::llround(low * steps_per_unit);
  const int64_t last = std::llround(high * steps_per_unit);
  return {first, last > first ? static_cast<uint64_t>(last - first) : 1};
}

bool ends_with(std::string_view name, std::string_view part) {
  return name.substr(name.rfind('.') + 1) == part;
}

}  // namespace

ValueRange parameter_range(std::string_view name, at::IntArrayRef shape) {
  if (shape.size() >= 2) {
    double fan_in = 1;
    for (const int64_t size : shape.slice(1)) fan_in *= static_cast<double>(size);
    const double bound = std::sqrt(3.0 / std::max(1.0, fan_in));
    return {-bound, bound};
  }
  if (ends_with(name, "weight")) return {0.75, 1.25};
  return {-0.25, 0.25};
}

std::optional<ValueRange> buffer_range(std::string_view name) {
  if (ends_with(name, "running_mean")) return ValueRange{-0.25, 0.25};
  if (ends_with(name, "running_var")) return ValueRange{0.5, 1.5};
  return std::nullopt;
}

at::Tensor seeded_tensor(uint64_t seed, std::string_view model, std::string_view name,
                         at::IntArrayRef shape, at::ScalarType dtype, const ValueRange& range) {
  const auto [low, high] = range;
  if (!(std::abs(low) <= kLargestBound && std::abs(high) <= kLargestBound && low <= high)) {
    throw Error("model '" + std::string(model) + "': values of '" + std::string(name) +
                "' have an invalid range: empty or beyond 1e12");
  }
  const uint64_t key = make_key(seed, model, name);
  const bool is_integral = at::isIntegralType(dtype, /*includeBool=*/true);
  const double steps_per_unit = is_integral ? 1 : kStepsPerUnit;
  const auto [first, num_steps] =
      dtype == at::kBool ? std::pair<int64_t, uint64_t>{0, 2} : to_steps(low, high, steps_per_unit);
  std::vector<int64_t> sizes = shape.vec();
  if (at::isComplexType(dtype)) sizes.push_back(2);
  const at::Tensor steps = at::empty(sizes, at::kLong);
  int64_t* data = steps.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < steps.numel(); ++i) {
    data[i] = first + static_cast<int64_t>(bounded(element(key, i), num_steps));
  }
  if (is_integral) return steps.to(dtype);
  const at::Tensor values = steps.to(at::kDouble).div_(kStepsPerUnit);
  return (at::isComplexType(dtype) ? at::view_as_complex(values) : values).to(dtype);
}

}  // namespace torch_ir
