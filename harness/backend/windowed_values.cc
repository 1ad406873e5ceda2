#include "harness/backend/windowed_values.h"

#include <algorithm>
#include <utility>

#include "torch_ir/base/limits.h"

namespace torch_ir {
namespace {

// Assumed for dynamic sizes.
constexpr int64_t kGuessedSize = 256;

int64_t bytes_of(const Value& value) {
  auto bytes = static_cast<int64_t>(c10::elementSize(value.dtype));
  for (const int64_t size : value.shape) {
    if (__builtin_mul_overflow(bytes, size == kDynamicSize ? kGuessedSize : size, &bytes)) {
      return kMaxTensorBytes;
    }
  }
  return std::min(bytes, kMaxTensorBytes);
}

}  // namespace

WindowedValues::WindowedValues(const Program& program, std::vector<ValueId> values,
                               int64_t most_bytes, Run run)
    : run_(std::move(run)), program_(program), values_(std::move(values)), most_bytes_(most_bytes) {
  for (size_t i = 0; i < values_.size(); ++i) {
    positions_.emplace(program[values_[i]].name, i);
  }
}

at::Tensor WindowedValues::next(const std::string& name) {
  const auto found = positions_.find(name);
  if (found == positions_.end()) return {};
  const size_t first = found->second;
  if (!pending_.contains(values_[first])) {
    pending_.clear();
    int64_t num_bytes = 0;
    size_t end = first;
    for (; end < values_.size(); ++end) {
      num_bytes += bytes_of(program_[values_[end]]);
      if (end > first && num_bytes > most_bytes_) break;
    }
    const auto window = std::span(values_).subspan(first, end - first);
    std::vector<at::Tensor> results = run_(window);
    for (size_t i = 0; i < window.size(); ++i) pending_[window[i]] = std::move(results.at(i));
  }
  return pending_.extract(values_[first]).mapped();
}

}  // namespace torch_ir
