#include "torch_ir/verifier/compare.h"

#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

#include "torch_ir/ir/dtype.h"
#include "torch_ir/verifier/compare_figures.h"

namespace torch_ir {
namespace {

// Small enough for the caches, large enough that a block's overhead is nothing.
constexpr int64_t kBlockSize = 1 << 16;

// Both blocks contiguous, on the CPU. Returns whether to go on.
using BlockVisitor =
    std::function<bool(const at::Tensor& actual, const at::Tensor& expected, int64_t first)>;

at::Tensor plain_block(const at::Tensor& block) {
  return block.cpu().resolve_conj().resolve_neg().contiguous();
}

// Visits both tensors in row-major order, a block of at most kBlockSize elements at a time. Returns
// whether all were visited.
bool for_each_block(const at::Tensor& actual, const at::Tensor& expected, int64_t first,
                    const BlockVisitor& visit) {
  const int64_t size = actual.numel();
  if (size == 0) return true;
  if (size <= kBlockSize) return visit(plain_block(actual), plain_block(expected), first);
  int64_t dim = 0;
  while (actual.size(dim) == 1) ++dim;
  const int64_t row = size / actual.size(dim);
  const int64_t rows_at_once = std::max<int64_t>(1, kBlockSize / row);
  for (int64_t i = 0; i < actual.size(dim); i += rows_at_once) {
    const int64_t count = std::min(rows_at_once, actual.size(dim) - i);
    if (!for_each_block(actual.narrow(dim, i, count), expected.narrow(dim, i, count),
                        first + i * row, visit)) {
      return false;
    }
  }
  return true;
}

bool have_equal_bits(const at::Tensor& actual, const at::Tensor& expected) {
  return for_each_block(actual, expected, 0, [](const auto& a, const auto& e, int64_t) {
    return std::memcmp(a.const_data_ptr(), e.const_data_ptr(), a.nbytes()) == 0;
  });
}

// The tensor in a form whose elements can be told apart by strides.
at::Tensor strided(const at::Tensor& tensor) {
  if (tensor.is_quantized()) return tensor.dequantize();
  return tensor.layout() == c10::kStrided ? tensor : tensor.to_dense();
}

std::string find_mismatch(const at::Tensor& actual, const at::Tensor& expected) {
  if (!actual.defined() || !expected.defined()) {
    return actual.defined() ? "a tensor, expected None" : "None, expected a tensor";
  }
  if (actual.sizes() != expected.sizes()) {
    return fmt::format("shape [{}], expected [{}]", fmt::join(actual.sizes().vec(), ", "),
                       fmt::join(expected.sizes().vec(), ", "));
  }
  if (actual.scalar_type() != expected.scalar_type()) {
    return fmt::format("dtype {}, expected {}", dtype_name(actual.scalar_type()),
                       dtype_name(expected.scalar_type()));
  }
  if (actual.is_meta() || expected.is_meta()) return "a meta tensor, which has no values";
  return {};
}

}  // namespace

TensorComparison compare_tensors(const at::Tensor& actual, const at::Tensor& expected,
                                 const Tolerance& tolerance) {
  TensorComparison result;
  if (!actual.defined() && !expected.defined()) {
    result.is_close = true;
    return result;
  }
  if (actual.defined()) {
    result.shape = actual.sizes().vec();
    result.dtype = dtype_name(actual.scalar_type());
    result.num_elements = actual.numel();
  }
  result.mismatch = find_mismatch(actual, expected);
  if (!result.mismatch.empty()) {
    result.smallest_passing_tolerance = std::numeric_limits<double>::infinity();
    return result;
  }
  const c10::InferenceMode inference_mode;
  const at::Tensor strided_actual = strided(actual);
  const at::Tensor strided_expected = strided(expected);
  ComparisonFigures figures(tolerance, strided_actual.scalar_type());
  const auto add = [&](const auto& a, const auto& e, int64_t first) {
    figures.add(a, e, first);
    return true;
  };
  const bool is_equal = have_equal_bits(strided_actual, strided_expected);
  if (!is_equal) for_each_block(strided_actual, strided_expected, 0, add);
  figures.finish(result);
  if (is_equal) result.histogram[0] = result.num_elements;
  return result;
}

}  // namespace torch_ir
