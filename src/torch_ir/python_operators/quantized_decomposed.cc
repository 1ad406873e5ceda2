#include <ATen/TensorOperators.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/full.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/rsub.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <limits>
#include <optional>
#include <vector>

#include "torch_ir/python_operators/definitions.h"

namespace torch_ir {
namespace {

using at::ScalarType;
using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

void check_dtype(const Tensor& input, ScalarType expected) {
  TORCH_CHECK(input.scalar_type() == expected, "Expected an input of ", expected, ", got ",
              input.scalar_type());
}

void check_float(const Tensor& input) {
  if (input.scalar_type() != at::kDouble) check_dtype(input, at::kFloat);
}

Tensor as_float(const Tensor& input) {
  const ScalarType dtype = input.scalar_type();
  const Tensor result = dtype == at::kHalf || dtype == at::kBFloat16 ? input.to(at::kFloat) : input;
  check_float(result);
  return result;
}

// --- One scale for a tensor ---

Tensor quantize_per_tensor(const Tensor& input, double scale, int64_t zero_point, int64_t quant_min,
                           int64_t quant_max, ScalarType dtype) {
  check_bounds(quant_min, quant_max, dtype);
  const Tensor scaled = as_float(input).mul(1.0 / scale).round().add(zero_point);
  return scaled.clamp(quant_min, quant_max).to(dtype);
}

Tensor dequantize_per_tensor(const Tensor& input, double scale, int64_t zero_point, int64_t,
                             int64_t, ScalarType dtype, std::optional<ScalarType> out_dtype) {
  check_dtype(input, dtype);
  quantized_range(dtype);
  return input.to(out_dtype.value_or(at::kFloat)).sub(zero_point).mul(scale);
}

// A tensor of one element that takes part in arithmetic like a Python number. Python reads the
// element, but a graph that does so cannot be replayed.
Tensor as_number(const Tensor& tensor, const char* name) {
  TORCH_CHECK(tensor.numel() == 1, "Expected one element in ", name, ", got ", tensor.numel());
  return tensor.reshape({});
}

Tensor quantize_per_tensor_tensor(const Tensor& input, const Tensor& scale,
                                  const Tensor& zero_point, int64_t quant_min, int64_t quant_max,
                                  ScalarType dtype) {
  check_bounds(quant_min, quant_max, dtype);
  const Tensor inverse_scale = as_number(scale, "scale").to(at::kDouble).reciprocal();
  const Tensor scaled = as_float(input).mul(inverse_scale.to(at::kFloat)).round();
  return scaled.add(as_number(zero_point, "zero_point")).clamp(quant_min, quant_max).to(dtype);
}

Tensor dequantize_per_tensor_tensor(const Tensor& input, const Tensor& scale,
                                    const Tensor& zero_point, int64_t, int64_t, ScalarType dtype,
                                    std::optional<ScalarType> out_dtype) {
  check_dtype(input, dtype);
  quantized_range(dtype);
  const Tensor shifted =
      input.to(out_dtype.value_or(at::kFloat)).sub(as_number(zero_point, "zero_point"));
  const Tensor number = as_number(scale, "scale");
  return shifted.mul(shifted.scalar_type() == at::kDouble ? number : number.to(at::kFloat));
}

Tensor quantize_per_tensor_tensor2(const Tensor& input, const Tensor& scale,
                                   const Tensor& zero_point, const Tensor& quant_min,
                                   const Tensor& quant_max, ScalarType dtype) {
  quantized_range(dtype);
  const Tensor inverse_scale = as_number(scale, "scale").to(at::kDouble).reciprocal();
  const Tensor scaled = as_float(input).mul(inverse_scale.to(at::kFloat)).round();
  return scaled.add(as_number(zero_point, "zero_point"))
      .clamp(as_number(quant_min, "quant_min"), as_number(quant_max, "quant_max"))
      .to(dtype);
}

Tensor dequantize_per_tensor_tensor2(const Tensor& input, const Tensor& scale,
                                     const Tensor& zero_point, const Tensor&, const Tensor&,
                                     ScalarType dtype, std::optional<ScalarType> out_dtype) {
  return dequantize_per_tensor_tensor(input, scale, zero_point, 0, 0, dtype, out_dtype);
}

// The least and the greatest value, extended to include 0.
struct Extent {
  Tensor low;
  Tensor high;
};

Extent extent_of(const Tensor& input, int64_t quant_min, int64_t quant_max, ScalarType dtype) {
  const ScalarType from = input.scalar_type();
  TORCH_CHECK(c10::isFloatingType(from) && !c10::isFloat8Type(from),
              "Expected an input of float32, float16, bfloat16 or float64, got ", from);
  quantized_range(dtype);
  TORCH_CHECK(quant_min <= 0 && 0 <= quant_max && quant_min < quant_max,
              "Expected quant_min <= 0 <= quant_max, got ", quant_min, " and ", quant_max);
  const auto [low, high] = at::aminmax(input);
  check_value(low.le(high), "the input of choose_qparams has a NaN");
  return {at::minimum(low, at::zeros_like(low)), at::maximum(high, at::zeros_like(high))};
}

Tensor scale_of(const Tensor& extent, double steps, double eps) {
  const Tensor least = at::full({1}, eps, extent.options().dtype(at::kFloat));
  return at::maximum(extent.div(steps), least);
}

TensorPair choose_qparams(const Tensor& input, int64_t quant_min, int64_t quant_max, double eps,
                          ScalarType dtype) {
  const Extent extent = extent_of(input, quant_min, quant_max, dtype);
  const auto steps = static_cast<double>(quant_max - quant_min);
  const Tensor scale = scale_of(extent.high.sub(extent.low), steps, eps);
  const Tensor from_low = extent.low.div(scale).round().to(at::kInt);
  const Tensor zero_point = at::rsub(from_low, quant_min).clamp(quant_min, quant_max);
  return {scale.to(at::kDouble), zero_point.to(at::kLong)};
}

TensorPair choose_qparams_symmetric(const Tensor& input, int64_t quant_min, int64_t quant_max,
                                    double eps, ScalarType dtype) {
  const Extent extent = extent_of(input, quant_min, quant_max, dtype);
  const double steps = static_cast<double>(quant_max - quant_min) / 2;
  const Tensor scale = scale_of(at::maximum(extent.low.neg(), extent.high), steps, eps);
  const int64_t zero_point = dtype == at::kByte ? 128 : 0;
  return {scale.to(at::kDouble), at::full({1}, zero_point, input.options().dtype(at::kLong))};
}

// --- A scale for each channel ---

// `values`, one per channel, along dimension 0 of `input`.
Tensor along_first(const Tensor& values, const Tensor& input) {
  std::vector<int64_t> shape(input.dim(), 1);
  shape[0] = values.size(0);
  return values.view(shape);
}

void check_axis(const Tensor& input, int64_t axis) {
  // One number has no axis at all.
  TORCH_CHECK(input.dim() > 0 && axis < input.dim(), "Expected an axis below ", input.dim(),
              ", got ", axis);
}

Tensor quantize_per_channel(const Tensor& input, const Tensor& scales, const Tensor& zero_points,
                            int64_t axis, int64_t quant_min, int64_t quant_max, ScalarType dtype) {
  check_axis(input, axis);
  check_bounds(quant_min, quant_max, dtype);
  const Tensor swapped = as_float(input).transpose(0, axis);
  const Tensor inverse_scales = inverse(along_first(scales, swapped));
  const Tensor rounded = swapped.mul(inverse_scales).round();
  const Tensor result = rounded.add(along_first(zero_points, swapped)).clamp(quant_min, quant_max);
  return result.transpose(0, axis).to(dtype);
}

Tensor dequantize_per_channel(const Tensor& input, const Tensor& scales,
                              const OptionalTensor& zero_points, int64_t axis, int64_t quant_min,
                              int64_t quant_max, ScalarType dtype,
                              std::optional<ScalarType> out_dtype) {
  check_dtype(input, dtype);
  check_axis(input, axis);
  check_bounds(quant_min, quant_max, dtype);
  const Tensor swapped = input.transpose(0, axis);
  const Tensor shifted = zero_points ? swapped.sub(along_first(*zero_points, swapped)) : swapped;
  const Tensor result = shifted.mul(along_first(scales, swapped));
  return result.to(out_dtype.value_or(at::kFloat)).transpose(0, axis);
}

Tensor fake_quant_per_channel(const Tensor& input, const Tensor& scales, const Tensor& zero_points,
                              int64_t axis, int64_t quant_min, int64_t quant_max) {
  check_float(input);
  check_axis(input, axis);
  // Python's result then has a dimension more than its meta kernel says.
  TORCH_CHECK(axis >= 0, "Expected an axis of 0 or more, got ", axis);
  std::vector<int64_t> shape(input.dim(), 1);
  shape[axis] = scales.numel();
  const Tensor scale = scales.to(at::kFloat).view(shape);
  const Tensor zero_point = zero_points.to(at::kInt).view(shape);
  const Tensor quantized = input.mul(inverse(scale)).round().add(zero_point);
  return quantized.clamp(quant_min, quant_max).sub(zero_point).mul(scale);
}

// --- A scale for each token, a row of the last dimension ---

TensorPair choose_qparams_per_token(const Tensor& input, ScalarType dtype) {
  TORCH_CHECK(dtype == at::kChar, "Unsupported dtype in choose_qparams_per_token: ", dtype);
  Tensor scales = input.abs().amax({-1}, /*keepdim=*/true);
  if (scales.scalar_type() == at::kHalf) scales = scales.to(at::kFloat);
  scales = scales.clamp(1e-5).div(127);
  return {scales, at::zeros_like(scales)};
}

TensorPair choose_qparams_per_token_asymmetric(const Tensor& input, ScalarType) {
  constexpr int64_t kLow = -128;
  constexpr int64_t kHigh = 127;
  const Tensor least = input.amin({-1}, /*keepdim=*/true);
  const Tensor most = input.amax({-1}, /*keepdim=*/true);
  const Tensor low = at::minimum(least, at::zeros_like(least));
  const Tensor high = at::maximum(most, at::zeros_like(most));
  const Tensor scale = high.sub(low)
                           .div(static_cast<double>(kHigh - kLow))
                           .clamp(std::numeric_limits<float>::epsilon());
  const Tensor scaled_low = low.div(scale);
  const Tensor scaled_high = high.div(scale);
  const Tensor error = scaled_low.add(kLow).add(scaled_high.add(kHigh));
  const Tensor zero_point =
      at::where(error.gt(0), at::rsub(scaled_low, kLow), at::rsub(scaled_high, kHigh));
  return {scale.to(at::kDouble), zero_point.clamp(kLow, kHigh).round().to(at::kLong)};
}

Tensor quantize_per_token(const Tensor& input, const Tensor& scales, const Tensor& zero_points,
                          int64_t quant_min, int64_t quant_max, ScalarType dtype) {
  check_bounds(quant_min, quant_max, dtype);
  for (const Tensor& parameters : {scales, zero_points}) {
    TORCH_CHECK(parameters.numel() * input.size(-1) == input.numel(),
                "Expected one scale and zero ", "point for each of the rows of ", input.sizes(),
                ", got ", parameters.sizes());
  }
  const Tensor scaled = input.mul(inverse(scales)).add(zero_points).round();
  return scaled.clamp(quant_min, quant_max).to(dtype);
}

Tensor dequantize_per_token(const Tensor& input, const Tensor& scales, const Tensor& zero_points,
                            int64_t, int64_t, ScalarType, ScalarType output_dtype) {
  return input.sub(zero_points).mul(scales).to(output_dtype);
}

// --- A scale for each group of a channel ---

// `input`, a matrix, with a row for each group.
Tensor in_groups(const Tensor& input, const Tensor& scales, int64_t group_size) {
  TORCH_CHECK(group_size > 1, "Expected a group_size above 1, got ", group_size);
  TORCH_CHECK(input.dim() == 2, "Expected a matrix, got a shape of ", input.sizes());
  const int64_t columns = input.size(-1);
  if (group_size > columns && scales.size(-1) == 1) group_size = columns;
  TORCH_CHECK(group_size > 0 && columns % group_size == 0, columns,
              " columns do not divide into groups of ", group_size);
  return input.reshape({-1, group_size});
}

Tensor quantize_per_channel_group(const Tensor& input, const Tensor& scales,
                                  const Tensor& zero_points, int64_t quant_min, int64_t quant_max,
                                  ScalarType dtype, int64_t group_size) {
  const Tensor groups = in_groups(input, scales, group_size);
  check_value(at::isnan(groups).any().logical_not(),
              "the input of quantize_per_channel_group has a NaN");
  const Tensor scaled = groups.mul(inverse(scales.reshape({-1, 1})));
  return scaled.add(zero_points.reshape({-1, 1}))
      .round()
      .clamp(quant_min, quant_max)
      .to(dtype)
      .reshape(input.sizes());
}

Tensor dequantize_per_channel_group(const Tensor& input, const Tensor& scales,
                                    const OptionalTensor& zero_points, int64_t, int64_t, ScalarType,
                                    int64_t group_size, ScalarType output_dtype) {
  const Tensor groups = in_groups(input, scales, group_size);
  const Tensor zero_point =
      zero_points ? zero_points->reshape({-1, 1}) : at::zeros({}, scales.options().dtype(at::kInt));
  const Tensor result = groups.sub(zero_point).mul(scales.reshape({-1, 1}));
  return result.reshape(input.sizes()).to(output_dtype);
}

}  // namespace

void define_quantized_decomposed(Definitions& definitions) {
  const std::string range = "int quant_min, int quant_max, ";
  const std::string to_float = range + "ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor";
  const std::string to_quantized = range + "ScalarType dtype) -> Tensor";
  const auto add = [&](const std::string& schema, auto* function) {
    definitions.add(schema, function);
  };
  add("quantize_per_tensor(Tensor input, float scale, int zero_point, " + to_quantized,
      quantize_per_tensor);
  add("quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, " + to_quantized,
      quantize_per_tensor_tensor);
  add("quantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, "
      "Tensor quant_min, Tensor quant_max, ScalarType dtype) -> Tensor",
      quantize_per_tensor_tensor2);
  add("dequantize_per_tensor(Tensor input, float scale, int zero_point, " + to_float,
      dequantize_per_tensor);
  add("dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, " + to_float,
      dequantize_per_tensor_tensor);
  add("dequantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, "
      "Tensor quant_min, Tensor quant_max, ScalarType dtype, *, ScalarType? out_dtype=None)"
      " -> Tensor",
      dequantize_per_tensor_tensor2);
  const std::string chosen = range + "float eps, ScalarType dtype) -> (Tensor, Tensor)";
  add("choose_qparams.tensor(Tensor input, " + chosen, choose_qparams);
  add("choose_qparams_symmetric.tensor(Tensor input, " + chosen, choose_qparams_symmetric);
  add("quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, " +
          to_quantized,
      quantize_per_channel);
  add("dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, " +
          to_float,
      dequantize_per_channel);
  add("fake_quant_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, "
      "int quant_min, int quant_max) -> Tensor",
      fake_quant_per_channel);
  for (const char* name :
       {"choose_qparams_per_token_asymmetric", "_choose_qparams_per_token_asymmetric_impl"}) {
    add(std::string(name) + "(Tensor input, ScalarType dtype) -> (Tensor, Tensor)",
        choose_qparams_per_token_asymmetric);
  }
  add("choose_qparams_per_token(Tensor input, ScalarType dtype) -> (Tensor, Tensor)",
      choose_qparams_per_token);
  add("quantize_per_token(Tensor input, Tensor scales, Tensor zero_points, " + to_quantized,
      quantize_per_token);
  add("dequantize_per_token(Tensor input, Tensor scales, Tensor zero_points, " + range +
          "ScalarType dtype, ScalarType output_dtype) -> Tensor",
      dequantize_per_token);
  add("quantize_per_channel_group(Tensor input, Tensor scales, Tensor zero_points, " + range +
          "ScalarType dtype, int group_size) -> Tensor",
      quantize_per_channel_group);
  add("dequantize_per_channel_group(Tensor input, Tensor scales, Tensor? zero_points, " + range +
          "ScalarType dtype, int group_size, ScalarType output_dtype) -> Tensor",
      dequantize_per_channel_group);
  add(
      "convert_element_type.no_fuse(Tensor input, ScalarType dtype) -> Tensor",
      +[](const Tensor& input, ScalarType dtype) {
        return input.to(dtype, /*non_blocking=*/false, /*copy=*/true);
      });
}

}  // namespace torch_ir
