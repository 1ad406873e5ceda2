#include <ATen/TensorOperators.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/rsub.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "torch_ir/python_operators/definitions.h"

namespace torch_ir {
namespace {

using at::ScalarType;
using at::Tensor;
using OptionalScalar = std::optional<at::Scalar>;
using OptionalDtype = std::optional<ScalarType>;

bool is_part_of_byte(ScalarType dtype) {
  return ScalarType::UInt1 <= dtype && dtype <= ScalarType::UInt7;
}

double greatest_float8(ScalarType dtype) {
  TORCH_CHECK(c10::isFloat8Type(dtype), "Unsupported float8 dtype: ", dtype);
  return quantized_range(dtype).high;
}

// The given bounds, or those of the dtype, as the kind of number that Python has.
struct Bounds {
  at::Scalar low;
  at::Scalar high;

  double width() const { return high.toDouble() - low.toDouble(); }
};

Bounds bounds_of(ScalarType dtype, const OptionalScalar& low, const OptionalScalar& high) {
  const QuantizedRange range = quantized_range(dtype);
  const auto number = [&](double value) {
    return c10::isFloat8Type(dtype) ? at::Scalar(value) : at::Scalar(static_cast<int64_t>(value));
  };
  const Bounds bounds = {low.value_or(number(range.low)), high.value_or(number(range.high))};
  check_bounds(bounds.low, bounds.high, dtype);
  return bounds;
}

// A view of a tensor in which each block is a product of whole dimensions.
struct Blocks {
  // The shape of this view of the tensor.
  std::vector<int64_t> shape;
  // The dimensions of `shape` inside of a block.
  std::vector<int64_t> inner;
  // `shape` with 1 for these dimensions: one element for each scale.
  std::vector<int64_t> scale_shape;
  // The number of scales along each dimension of the tensor.
  std::vector<int64_t> counts;
};

Blocks blocks_of(const Tensor& input, at::IntArrayRef block_size) {
  TORCH_CHECK(std::ssize(block_size) == input.dim(), "Expected a block_size for each dimension of ",
              input.sizes(), ", got ", block_size);
  Blocks blocks;
  const auto add = [&](int64_t size, bool is_inner) {
    if (is_inner) blocks.inner.push_back(std::ssize(blocks.shape));
    blocks.shape.push_back(size);
    blocks.scale_shape.push_back(is_inner ? 1 : size);
  };
  for (int64_t i = 0; i < input.dim(); ++i) {
    const int64_t size = input.size(i);
    const int64_t block = block_size[i];
    TORCH_CHECK(block > 0 && size % block == 0, "Dimension ", i, " has ", size,
                " elements, which do not divide into blocks of ", block);
    blocks.counts.push_back(size / block);
    if (block != size && block > 1) add(size / block, /*is_inner=*/false);
    add(block > 1 ? block : size, /*is_inner=*/block != 1);
  }
  return blocks;
}

Tensor quantize_affine(const Tensor& input, at::IntArrayRef block_size, const Tensor& scale,
                       const std::optional<Tensor>& zero_point, ScalarType output_dtype,
                       const OptionalScalar& quant_min, const OptionalScalar& quant_max) {
  const Bounds bounds = bounds_of(output_dtype, quant_min, quant_max);
  const Blocks blocks = blocks_of(input, block_size);
  TORCH_CHECK(zero_point && zero_point->numel() > 0, "quantize_affine needs a zero_point");
  const Tensor rounded =
      input.view(blocks.shape).mul(inverse(scale.view(blocks.scale_shape))).round();
  const Tensor result =
      rounded.add(zero_point->view(blocks.scale_shape)).clamp(bounds.low, bounds.high);
  return result.view(input.sizes()).to(is_part_of_byte(output_dtype) ? at::kByte : output_dtype);
}

Tensor dequantize_affine(const Tensor& input, at::IntArrayRef block_size, const Tensor& scale,
                         const std::optional<Tensor>& zero_point, ScalarType input_dtype,
                         const OptionalScalar& quant_min, const OptionalScalar& quant_max,
                         ScalarType output_dtype) {
  TORCH_CHECK(is_part_of_byte(input_dtype) || input.scalar_type() == input_dtype,
              "Expected an input of ", input_dtype, ", got ", input.scalar_type());
  bounds_of(input_dtype, quant_min, quant_max);
  const Blocks blocks = blocks_of(input, block_size);
  Tensor result = input.view(blocks.shape).to(output_dtype, /*non_blocking=*/false, /*copy=*/true);
  if (zero_point) result = result.sub(zero_point->view(blocks.scale_shape).to(output_dtype));
  result = result.mul(scale.view(blocks.scale_shape));
  return result.view(input.sizes()).to(output_dtype);
}

double smallest_normal(ScalarType dtype) {
  return dtype == at::kHalf     ? 6.103515625e-05
         : dtype == at::kDouble ? 2.2250738585072014e-308
                                : 1.1754943508222875e-38;
}

TensorPair choose_qparams_affine(const std::optional<Tensor>& optional_input,
                                 std::string_view mapping_type, at::IntArrayRef block_size,
                                 ScalarType target_dtype, const OptionalScalar& quant_min,
                                 const OptionalScalar& quant_max, std::optional<double> eps,
                                 OptionalDtype scale_dtype, OptionalDtype zero_point_dtype,
                                 bool keepdim) {
  TORCH_CHECK(optional_input, "choose_qparams_affine needs an input");
  const Tensor& input = *optional_input;
  const Bounds bounds = bounds_of(target_dtype, quant_min, quant_max);
  const Blocks blocks = blocks_of(input, block_size);
  const Tensor viewed = input.view(blocks.shape);
  const Tensor least = viewed.amin(blocks.inner, keepdim);
  const Tensor most = viewed.amax(blocks.inner, keepdim);
  const Tensor low = at::minimum(least, at::zeros_like(least));
  const Tensor high = at::maximum(most, at::zeros_like(most));
  const double least_scale = eps.value_or(smallest_normal(input.scalar_type()));
  Tensor scale;
  Tensor zero_point;
  if (mapping_type == "ASYMMETRIC") {
    scale = high.sub(low).div(bounds.width()).clamp(least_scale);
    zero_point = at::rsub(low.div(scale).round(), bounds.low).clamp(bounds.low, bounds.high);
    zero_point_dtype = zero_point_dtype.value_or(at::kInt);
  } else {
    if (mapping_type == "SYMMETRIC") {
      scale = at::maximum(low.neg(), high).div(bounds.width() / 2);
    } else {
      TORCH_CHECK(mapping_type == "SYMMETRIC_NO_CLIPPING_ERR",
                  "Unsupported mapping type: ", mapping_type);
      scale = at::maximum(low.div(bounds.low.toDouble()), high.div(bounds.high.toDouble()));
    }
    const double middle = (bounds.high.toDouble() + bounds.low.toDouble() + 1) / 2;
    zero_point = at::full_like(scale, static_cast<int64_t>(middle));
    scale = scale.clamp(least_scale);
  }
  if (keepdim) {
    scale = scale.reshape(blocks.counts);
    zero_point = zero_point.reshape(blocks.counts);
  }
  return {scale.to(scale_dtype.value_or(input.scalar_type())),
          zero_point.to(zero_point_dtype.value_or(zero_point.scalar_type()))};
}

// --- float8 ---

Tensor choose_scale_float8(const Tensor& input, at::IntArrayRef block_size, ScalarType dtype,
                           ScalarType scale_dtype, std::optional<double> low,
                           std::optional<double> high) {
  TORCH_CHECK(
      scale_dtype == at::kFloat || scale_dtype == at::kDouble || scale_dtype == at::kFloat8_e8m0fnu,
      "Unsupported dtype of scales: ", scale_dtype);
  const Blocks blocks = blocks_of(input, block_size);
  Tensor greatest = input.view(blocks.shape).abs().amax(blocks.inner, /*keepdim=*/true);
  if (low || high) greatest = greatest.clamp(OptionalScalar(low), OptionalScalar(high));
  Tensor scale = greatest.div(greatest_float8(dtype)).reshape(blocks.counts);
  if (scale_dtype == at::kFloat8_e8m0fnu) scale = scale.log2().round().exp2();
  return scale.to(scale_dtype == at::kDouble ? at::kDouble : at::kFloat);
}

// `scale` for each element of a tensor of that shape, unless it broadcasts to it.
Tensor expand_scale(const Tensor& scale, at::IntArrayRef shape) {
  const auto fits = [](int64_t a, int64_t b) { return a == b || a == 1; };
  const at::IntArrayRef sizes = scale.sizes();
  const size_t common = std::min(sizes.size(), shape.size());
  const bool broadcasts =
      std::equal(sizes.begin(), sizes.begin() + common, shape.begin(), fits) || scale.numel() == 1;
  if (broadcasts) return scale;
  TORCH_CHECK(sizes.size() == shape.size(), "A scale of shape ", sizes,
              " does not fit a tensor of shape ", shape);
  Tensor result = scale;
  for (int64_t i = 0; i < std::ssize(shape); ++i) {
    TORCH_CHECK(sizes[i] > 0 && shape[i] % sizes[i] == 0, "A scale of shape ", sizes,
                " does not divide a tensor of shape ", shape);
    result = result.repeat_interleave(shape[i] / sizes[i], i);
  }
  return result;
}

// Scales are float32 in Python.
ScalarType dtype_beside(const Tensor& scale) {
  return scale.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

Tensor quantize_affine_float8(const Tensor& input, const Tensor& scale, ScalarType dtype) {
  const double greatest = greatest_float8(dtype);
  const Tensor scaled = input.to(dtype_beside(scale)).div(expand_scale(scale, input.sizes()));
  return scaled.clamp(-greatest, greatest).to(dtype);
}

Tensor dequantize_affine_float8(const Tensor& input, const Tensor& scale, ScalarType dtype) {
  return input.to(dtype_beside(scale)).mul(expand_scale(scale, input.sizes())).to(dtype);
}

}  // namespace

void define_torchao(Definitions& definitions) {
  definitions.add(
      "choose_qparams_affine(Tensor? input, str mapping_type, SymInt[] block_size, "
      "ScalarType target_dtype, Scalar? quant_min=None, Scalar? quant_max=None, float? eps=None, "
      "ScalarType? scale_dtype=None, ScalarType? zero_point_dtype=None, bool keepdim=False)"
      " -> (Tensor, Tensor)",
      choose_qparams_affine);
  definitions.add(
      "quantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, "
      "ScalarType output_dtype, Scalar? quant_min=None, Scalar? quant_max=None) -> Tensor",
      quantize_affine);
  definitions.add(
      "dequantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, "
      "ScalarType input_dtype, Scalar? quant_min=None, Scalar? quant_max=None, "
      "ScalarType output_dtype=6) -> Tensor",
      dequantize_affine);
  definitions.add(
      "choose_scale_float8(Tensor tensor, SymInt[] block_size, ScalarType float8_dtype=24, "
      "ScalarType scale_dtype=6, float? hp_value_lb=None, float? hp_value_ub=None) -> Tensor",
      choose_scale_float8);
  definitions.add(
      "quantize_affine_float8_non_decomposed(Tensor tensor, Tensor scale, "
      "ScalarType float8_dtype=24) -> Tensor",
      quantize_affine_float8);
  definitions.add(
      "dequantize_affine_float8_non_decomposed(Tensor tensor, Tensor scale, "
      "ScalarType output_dtype=6) -> Tensor",
      dequantize_affine_float8);
}

}  // namespace torch_ir
