// Layers of integers of 8 bits.
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "torch_ir/fast/quantized.h"

namespace torch_ir {
namespace {

struct Layer {
  std::string_view operator_name;
  bool is_linear;
  // Names of arguments.
  std::string_view source;
  std::string_view weight;
  std::string_view bias;
};

constexpr Layer kLayers[] = {
    {"aten::_slow_conv2d_forward", false, "self", "weight", "bias"},
    {"aten::addmm", true, "mat1", "mat2", "self"},
    {"aten::mkldnn_convolution", false, "self", "weight", "bias"},
    {"aten::mm", true, "self", "mat2", ""},
    {"aten::slow_conv_dilated2d", false, "self", "weight", "bias"},
};

// A layer whose source is integers.
struct IntegerLayer {
  // In the dimensions that the layer reads.
  TensorId source;
  Padding padding;
  Source from;
  IntegerWeight weight;
  // What the weight was computed from.
  std::vector<at::Tensor> leaves;
  // May be undefined.
  at::Tensor bias;
};

std::optional<IntegerLayer> layer_at(QuantizedPatterns& patterns, size_t index,
                                     const Layer& layer) {
  const CallArguments call(patterns.call(index));
  const TensorId result = patterns.output(index);
  const auto given = call.tensor(layer.source);
  if (!given) return std::nullopt;
  const Padding padding = layer.is_linear ? Padding{*given} : patterns.padded(*given);
  const TensorId floats = padding.source;
  const auto from = patterns.dequantized(floats);
  const size_t dims = layer.is_linear ? 2 : 4;
  if (!from || !patterns.is_contiguous(floats) || !patterns.is_contiguous(from->tensor) ||
      !patterns.is_contiguous(result) || !patterns.is_whole(result) ||
      patterns.tensor(floats).sizes.size() != dims ||
      patterns.tensor(result).sizes.size() != dims || call.number("alpha", 1) != 1 ||
      call.number("beta", 1) != 1) {
    return std::nullopt;
  }
  const auto weight = patterns.known(call.tensor(layer.weight));
  const auto bias_id = call.tensor(layer.bias);
  const auto bias = bias_id ? patterns.known(bias_id) : Known();
  if (!weight || !bias || weight->value.scalar_type() != at::kFloat) return std::nullopt;
  const int64_t channels = patterns.tensor(result).sizes[1];
  const bool is_row = !bias->value.defined() || (bias->value.scalar_type() == at::kFloat &&
                                                 bias->value.sizes() == at::IntArrayRef{channels});
  auto integers =
      is_row ? integer_weight(layer.is_linear ? weight->value.t() : weight->value) : std::nullopt;
  if (!integers) return std::nullopt;
  const TensorId source = patterns.seen_as(from->tensor, floats);
  return IntegerLayer{source, padding, *from, std::move(*integers), weight->leaves, bias->value};
}

// What torchao makes of dynamic quantisation: (float(_int_mm(q, weight)) * scale) * scales + bias,
// the first scale for each row and the others for each column. The addition ends at `index`, or is
// missing.
std::optional<IntegerLayer> integer_product_at(QuantizedPatterns& patterns, size_t index) {
  const auto constant_row = [&](size_t call) -> at::Tensor {
    const auto other = CallArguments(patterns.call(call)).tensor("other");
    const at::Tensor row = other ? patterns.tensor(*other).constant : at::Tensor();
    const at::DimVector& sizes = patterns.tensor(patterns.output(call)).sizes;
    const bool is_row = row.defined() && row.dim() > 0 && row.scalar_type() == at::kFloat &&
                        row.numel() == sizes.back() && row.size(-1) == sizes.back();
    return is_row ? row.reshape({-1}) : at::Tensor();
  };
  IntegerLayer layer{};
  std::optional<size_t> last = index;
  if (const auto sum = patterns.argument_of(last, "aten::add.Tensor")) {
    layer.bias = constant_row(index);
    if (!layer.bias.defined()) return std::nullopt;
    last = patterns.inner_maker(sum);
  }
  const auto first = patterns.inner_maker(patterns.argument_of(last, "aten::mul.Tensor"));
  const auto floats = patterns.argument_of(first, "aten::mul.Tensor");
  const auto cast = patterns.inner_maker(floats);
  const auto call = patterns.inner_maker(patterns.argument_of(cast, "aten::_to_copy"));
  if (!call || !is_call(patterns.call(*call), "aten::_int_mm") ||
      patterns.tensor(*floats).dtype != at::kFloat) {
    return std::nullopt;
  }
  layer.from.scale = patterns.computed(*first);
  const at::Tensor scales = constant_row(*last);
  if (!layer.from.scale || !scales.defined()) return std::nullopt;
  const CallArguments arguments(patterns.call(*call));
  layer.source = *arguments.tensor("self");
  const at::Tensor weight = patterns.tensor(*arguments.tensor("mat2")).constant;
  if (!weight.defined() || !patterns.is_contiguous(layer.source)) return std::nullopt;
  const at::Tensor rows = scales.to(at::kDouble).contiguous();
  const double* data = rows.const_data_ptr<double>();
  layer.from.tensor = layer.source;
  layer.weight = {weight.t().contiguous(),
                  {data, data + rows.numel()},
                  std::vector<int64_t>(static_cast<size_t>(rows.numel()))};
  layer.leaves = {weight};
  return layer;
}

TensorId packed_integers(TraceRewriter& rewriter, const IntegerLayer& layer, const Layout& wanted) {
  const Layout plain = contiguous_layout(wanted.sizes(), Type::kInt8);
  // Other weights may be computed from the same leaves, such as the transposed one.
  const at::Tensor& values = layer.weight.values;
  const std::string_view bytes(static_cast<const char*>(values.const_data_ptr()), values.nbytes());
  const std::string hash = std::to_string(std::hash<std::string_view>()(bytes));
  return rewriter.packed("int8 " + hash + ' ' + wanted.key(), layer.leaves,
                         [&] { return reorder_constant(values, plain, wanted); });
}

struct Arithmetic {
  onednn::Scaling scaling;
  std::vector<float> bias;
  PostOps post_ops;
};

// Everything in steps of the output: scales, the bias with the zero points, and the clip.
Arithmetic arithmetic_of(const IntegerLayer& layer, bool is_padded, const Steps& to,
                         const Clip& clip, const std::optional<Source>& addend) {
  const Steps& from = layer.from.steps;
  const IntegerWeight& weight = layer.weight;
  Arithmetic result;
  if (is_padded) result.scaling.source_zero_point = static_cast<int32_t>(from.zero_point);
  double offset = to.zero_point;
  if (addend) {
    const double scale = static_cast<double>(addend->steps.scale) * to.inverse_scale;
    result.scaling.sum_scale = static_cast<float>(scale);
    result.scaling.sum_type = type_of(addend->steps.dtype);
    result.post_ops.push_back({PostOp::Kind::kSum});
    offset -= scale * addend->steps.zero_point;
  }
  at::Tensor bias = layer.bias;
  if (bias.defined()) bias = bias.to(at::kDouble).contiguous();
  for (size_t i = 0; i < weight.scales.size(); ++i) {
    const double scale = from.scale * weight.scales[i] * to.inverse_scale;
    double sum = offset;
    if (bias.defined()) sum += bias.const_data_ptr<double>()[i] * to.inverse_scale;
    if (!is_padded) sum -= scale * from.zero_point * static_cast<double>(weight.sums[i]);
    result.scaling.scales.push_back(static_cast<float>(scale));
    result.bias.push_back(static_cast<float>(onednn::scales_bias() ? sum / scale : sum));
  }
  const auto in_steps = [&to](float bound) { return bound * to.inverse_scale + to.zero_point; };
  const float low = to.is_float() ? clip.low : std::max(to.low, in_steps(clip.low));
  const float high = to.is_float() ? clip.high : std::min(to.high, in_steps(clip.high));
  // The library clips to the bounds of the dtype.
  const bool is_full = to.is_float() ? low == -kInfinity && high == kInfinity : high - low == 255;
  if (!is_full) {
    result.post_ops.push_back({PostOp::Kind::kFunction, Function::kClip, low, high});
  }
  return result;
}

PrimitivePtr primitive_of(const QuantizedPatterns& patterns, const IntegerLayer& layer,
                          const CallArguments& call, const Dims& to_sizes, Type to,
                          const Arithmetic& arithmetic) {
  const Type from = type_of(patterns.tensor(layer.source).dtype);
  const Dims from_sizes = dims_of(patterns.tensor(layer.source).sizes);
  const int64_t groups = call.integers("groups", 1, 1)[0];
  const Layout weights =
      Layout::any(grouped_sizes(layer.weight.values.sizes(), groups), Type::kInt8);
  if (from_sizes.size() == 2) {
    return onednn::make_inner_product(contiguous_layout(from_sizes, from), weights,
                                      /*has_bias=*/true, to, arithmetic.post_ops,
                                      arithmetic.scaling);
  }
  const Dims own = call.integers("padding", 2, 0);
  return onednn::make_convolution({Layout::channels_last(from_sizes, from), weights,
                                   /*has_bias=*/true, Layout::channels_last(to_sizes, to),
                                   call.integers("stride", 2, 1), sum_of(own, layer.padding.before),
                                   sum_of(own, layer.padding.after),
                                   call.integers("dilation", 2, 1),
                                   /*is_winograd=*/false, arithmetic.post_ops, arithmetic.scaling});
}

// Copies the bytes of `addend`, to which the product is added.
TensorId copy_addend(TraceRewriter& rewriter, TensorId addend, const Layout& layout,
                     TensorId output, size_t index) {
  const Layout from =
      Layout::strided(layout.sizes(), *layout.strides(), type_of(rewriter.tensor(addend).dtype));
  rewriter.emit(onednn::make_reorder(layout, layout), {rewriter.use(addend, from)}, output, index);
  return rewriter.use(output, layout);
}

const Layer* find_layer(const TraceCall& call) {
  const auto layer = std::ranges::find(kLayers, name_of(call), &Layer::operator_name);
  return onednn::multiplies_bytes() && layer != std::end(kLayers) ? layer : nullptr;
}

}  // namespace

std::optional<QuantizedCall> quantized_product(QuantizedPatterns& patterns, size_t index,
                                               std::optional<TensorId> output, const Steps& steps,
                                               const Clip& clip,
                                               const std::optional<Source>& addend) {
  const Layer* of = find_layer(patterns.call(index));
  auto layer = of != nullptr && output ? layer_at(patterns, index, *of) : std::nullopt;
  if (!layer || layer->from.is_dynamic()) return std::nullopt;
  const CallArguments call(patterns.call(index));
  const TensorId result = patterns.output(index);
  // Padding is zero, which the library must know as an integer; elsewhere the zero point is part of
  // the bias.
  const Dims padding = call.integers("padding", of->is_linear ? 0 : 2, 0);
  const bool is_padded = !layer->padding.before.empty() ||
                         std::ranges::any_of(padding, [](int64_t size) { return size != 0; });
  const float zero_point = layer->from.steps.zero_point;
  constexpr float kMostZeroPoint = 0x1p24F;
  const bool is_integer =
      std::round(zero_point) == zero_point && std::abs(zero_point) <= kMostZeroPoint;
  if (is_padded && !is_integer) return std::nullopt;
  const Arithmetic arithmetic = arithmetic_of(*layer, is_padded, steps, clip, addend);
  const at::Tensor bias = at::tensor(arithmetic.bias);
  const PrimitivePtr primitive =
      primitive_of(patterns, *layer, call, dims_of(patterns.tensor(result).sizes),
                   type_of(steps.dtype), arithmetic);
  if (primitive == nullptr || !bias.isfinite().all().item<bool>()) return std::nullopt;
  QuantizedCall product{{layer->source}};
  std::optional<TensorId> added;
  if (addend) product.sources.push_back(*(added = patterns.seen_as(addend->tensor, result)));
  product.emit = [layer = std::move(*layer), primitive, bias, added,
                  output = patterns.seen_as(*output, result)](TraceRewriter& rewriter, size_t at) {
    std::optional<TensorId> written;
    if (added) written = copy_addend(rewriter, *added, primitive->output, output, at);
    const TensorId source = rewriter.use(layer.source, primitive->inputs[0]);
    rewriter.emit(primitive,
                  {source, packed_integers(rewriter, layer, primitive->inputs[1]),
                   rewriter.add_constant(bias)},
                  output, at, written);
  };
  return product;
}

std::optional<QuantizedCall> dynamic_product(QuantizedPatterns& patterns, size_t index) {
  const auto output = patterns.output_or_none(index);
  if (!output || !patterns.is_contiguous(*output)) return std::nullopt;
  Clip clip;
  std::optional<PostOp> activation;
  size_t last = index;
  PostOps functions;
  if (const auto before = patterns.before_functions(index, functions)) {
    if (functions.size() != 1 || !take_clip(functions[0], clip)) {
      activation = take_activation(functions, /*is_winograd=*/false);
      if (!activation || !functions.empty()) return std::nullopt;
    }
    const auto made = patterns.inner_maker(*before);
    if (!made) return std::nullopt;
    last = *made;
  }
  const Layer* of = find_layer(patterns.call(last));
  auto layer = of != nullptr && of->is_linear ? layer_at(patterns, last, *of)
                                              : integer_product_at(patterns, last);
  if (!layer || !layer->from.is_dynamic() || !onednn::multiplies_bytes()) return std::nullopt;
  const Dims sizes = dims_of(patterns.tensor(layer->source).sizes);
  const int64_t columns = layer->weight.values.size(0);
  const auto primitive = onednn::make_inner_product(
      contiguous_layout(sizes, type_of(patterns.tensor(layer->source).dtype)),
      Layout::any({columns, sizes[1]}, Type::kInt8), /*has_bias=*/false, Type::kInt32);
  if (primitive == nullptr) return std::nullopt;
  const at::Tensor bias =
      layer->bias.defined() ? layer->bias.contiguous() : at::zeros({columns}, at::kFloat);
  const at::Tensor scales = at::tensor(layer->weight.scales, at::kFloat);
  const at::Tensor sums = at::tensor(layer->weight.sums, at::kInt);
  const at::Tensor zero_point = at::tensor(layer->from.steps.zero_point);
  QuantizedCall product{{layer->source, *layer->from.scale}};
  if (layer->from.zero_point) product.sources.push_back(*layer->from.zero_point);
  product.emit = [=, layer = std::move(*layer), output = *output](TraceRewriter& rewriter,
                                                                  size_t at) {
    const TensorId source = rewriter.use(layer.source, primitive->inputs[0]);
    const TensorId made = rewriter.make(
        primitive, {source, packed_integers(rewriter, layer, primitive->inputs[1])}, at);
    const TensorId shift = layer.from.zero_point ? rewriter.plain(*layer.from.zero_point)
                                                 : rewriter.add_constant(zero_point);
    rewriter.emit(scale_rows(clip, activation),
                  {made, rewriter.plain(*layer.from.scale), shift, rewriter.add_constant(sums),
                   rewriter.add_constant(scales), rewriter.add_constant(bias)},
                  {output}, at);
  };
  return product;
}

}  // namespace torch_ir
