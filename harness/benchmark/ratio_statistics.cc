#include "harness/benchmark/ratio_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace torch_ir {
namespace {

// The probability of `heads` heads in n throws of a coin.
double probability(size_t heads, size_t n) {
  const auto count = static_cast<double>(n);
  const auto part = static_cast<double>(heads);
  return std::exp(std::lgamma(count + 1) - std::lgamma(part + 1) - std::lgamma(count - part + 1) -
                  count * std::log(2.0));
}

// How many of n sorted values lie below the interval of their median, and as many above.
size_t num_outside(size_t n) {
  size_t outside = 0;
  double below = probability(0, n);
  while (2 * (below += probability(outside + 1, n)) <= 0.05) ++outside;
  return outside;
}

double middle(const std::vector<double>& sorted) {
  const size_t n = sorted.size();
  return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

}  // namespace

Estimate estimate_ratio(const std::vector<double>& times, const std::vector<double>& base) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(times.size(), base.size()); ++i) {
    ratios.push_back(times[i] / base[i]);
  }
  std::sort(ratios.begin(), ratios.end());
  const size_t outside = num_outside(ratios.size());
  return {ratios[outside], middle(ratios), ratios[ratios.size() - 1 - outside]};
}

double geometric_mean(const std::vector<double>& ratios) {
  double sum = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  return std::exp(sum / static_cast<double>(ratios.size()));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return middle(values);
}

}  // namespace torch_ir
