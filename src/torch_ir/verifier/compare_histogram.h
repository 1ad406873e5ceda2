// The bins of differences, see kHistogramBins in compare.h; for compare_figures.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "torch_ir/verifier/compare.h"

namespace torch_ir {
namespace histogram {

inline constexpr std::array<double, 16> kLimits = {
    1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3};
inline constexpr size_t kFirstLimit = 1;  // The bin that ends at kLimits[0].
inline constexpr size_t kLastBin = kHistogramBins - 1;
static_assert(kFirstLimit + kLimits.size() == kLastBin);

// The limits lie in the powers of two from 2^kMinExponent on.
inline constexpr int kMinExponent = -40;
inline constexpr int kMaxExponent = 9;
inline constexpr int kExponentBias = 1023;
static_assert(kLimits.front() >= 0x1p-40 && kLimits.back() < 0x1p10);

// How many limits are not above 2^exponent, for each exponent. Between two powers of two there is
// at most one limit, so that one comparison finds the bin.
inline constexpr std::array<uint8_t, kMaxExponent - kMinExponent + 1> kNumLimits = [] {
  std::array<uint8_t, kMaxExponent - kMinExponent + 1> counts{};
  double power = 0x1p-40;
  for (uint8_t& count : counts) {
    while (count < kLimits.size() && kLimits[count] <= power) ++count;
    power *= 2;
  }
  return counts;
}();

}  // namespace histogram

// The bin of two elements that are not equal and differ by `difference`, which may be infinite or
// NaN.
inline size_t histogram_bin(double difference) {
  using namespace histogram;
  const auto bits = std::bit_cast<uint64_t>(difference) & ~(uint64_t{1} << 63);
  const int exponent = static_cast<int>(bits >> 52) - kExponentBias;
  if (exponent < kMinExponent) return kFirstLimit;
  if (exponent > kMaxExponent) return kLastBin;
  const size_t limit = kNumLimits[static_cast<size_t>(exponent - kMinExponent)];
  return kFirstLimit + limit + (limit < kLimits.size() && difference >= kLimits[limit] ? 1 : 0);
}

}  // namespace torch_ir
