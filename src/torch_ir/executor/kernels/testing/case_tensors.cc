#include "torch_ir/executor/kernels/testing/case_tensors.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace torch_ir {
namespace {

double any_number(std::mt19937& random, Values values) {
  std::uniform_real_distribution<double> plain(-4.0, 4.0);
  const double number = plain(random);
  if (values == Values::kPositive) return std::abs(number) + 0.125;
  if (values == Values::kFinite) return number;
  switch (random() % 24) {
    case 0:
      return 0.0;
    case 1:
      return -0.0;
    case 2:
      return std::numeric_limits<double>::infinity();
    case 3:
      return -std::numeric_limits<double>::infinity();
    case 4:
      return std::numeric_limits<double>::quiet_NaN();
    case 5:
      return -std::numeric_limits<double>::quiet_NaN();
    case 6:
      // A quiet NaN that carries something, in a bit that float has, too.
      return std::bit_cast<double>(0x7ff9000000000000);
    case 7:
      return 1.0;
    default:
      return number;
  }
}

void fill(at::Tensor block, Values values, std::mt19937& random) {
  at::Tensor flat = block.view({-1});
  const bool is_whole = at::isIntegralType(block.scalar_type(), /*includeBool=*/true);
  const bool is_unsigned = block.scalar_type() == at::kByte || block.scalar_type() == at::kBool;
  const int64_t count = flat.numel();
  std::vector<double> numbers(static_cast<size_t>(count));
  for (double& number : numbers) {
    number = any_number(random, is_whole && values == Values::kAny ? Values::kFinite : values);
    if (is_whole) number = std::round(number * 8.0);
    if (is_whole && values == Values::kPositive) number = std::max(number, 1.0);
    if (is_unsigned) number = std::abs(number);
    if (block.scalar_type() == at::kBool) number = number > 12.0 ? 1.0 : 0.0;
  }
  flat.copy_(at::from_blob(numbers.data(), {count}, at::TensorOptions(at::kDouble)));
}

// A view of the block that `make_block` makes, with `sizes` and the layout.
at::Tensor view_of(const std::vector<int64_t>& sizes, Layout layout,
                   const std::function<at::Tensor(const std::vector<int64_t>&)>& make_block) {
  const size_t rank = sizes.size();
  std::vector<int64_t> block = sizes;
  switch (layout) {
    case Layout::kContiguous:
      return make_block(sizes);
    case Layout::kTransposed:
      if (rank < 2) return make_block(sizes);
      std::swap(block[rank - 1], block[rank - 2]);
      return make_block(block).transpose(-1, -2);
    case Layout::kChannelsLast:
      if (rank != 4) return make_block(sizes);
      return make_block({sizes[0], sizes[2], sizes[3], sizes[1]}).permute({0, 3, 1, 2});
    case Layout::kSliced:
      if (rank == 0) return make_block({3}).select(0, 2);
      block[rank - 1] = 2 * block[rank - 1] + 3;
      return make_block(block).slice(-1, 3, block[rank - 1], 2);
    case Layout::kExpanded:
      if (rank == 0) return make_block(sizes);
      block[0] = 1;
      return make_block(block).expand(sizes);
  }
  return {};
}

}  // namespace

at::Tensor make_tensor(at::ScalarType dtype, const std::vector<int64_t>& sizes, Layout layout,
                       Values values) {
  std::mt19937 random(17);
  return view_of(sizes, layout, [&](const std::vector<int64_t>& block_sizes) {
    at::Tensor block = at::empty(block_sizes, at::TensorOptions(dtype));
    fill(block, values, random);
    return block;
  });
}

at::Tensor make_indices(const std::vector<int64_t>& sizes, int64_t limit, at::ScalarType dtype) {
  at::Tensor indices = at::empty(sizes, at::TensorOptions(at::kLong));
  std::mt19937 random(23);
  auto* numbers = indices.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < indices.numel(); ++i) {
    numbers[i] = static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
  }
  return indices.to(dtype);
}

at::Tensor make_wrapped_number(const at::Scalar& number) {
  at::Tensor tensor = at::empty({}, at::TensorOptions(number.type()));
  tensor.fill_(number);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

}  // namespace torch_ir
