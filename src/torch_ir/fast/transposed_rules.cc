// Transposed convolutions whose windows do not overlap, as those of a U-Net: a 1x1 convolution
// makes the pixels of each window as channels, and a reorder puts them into their places. Measured:
// oneDNN 2.6 takes four times as long for its own, and LibTorch packs the weights in each run.
#include <ATen/ops/zeros.h>

#include "torch_ir/fast/rules.h"

namespace torch_ir {
namespace {

// `given` is [channels in, channels out, height, width].
size_t emit_transposed(TraceRewriter& rewriter, TensorId source, const at::Tensor& given,
                       const at::Tensor& given_bias, const Chain& chain) {
  const TensorId output = rewriter.shaped_like(chain.output, chain.made);
  const Dims sizes = rewriter.sizes(source);
  const int64_t n = sizes[0];
  const int64_t h = sizes[2];
  const int64_t w = sizes[3];
  const int64_t out = given.size(1);
  const int64_t rows = given.size(2);
  const int64_t columns = given.size(3);
  const int64_t channels = rows * columns * out;
  const PrimitivePtr product =
      guarded(onednn::make_convolution(
                  {Layout::any({n, sizes[1], h, w}), Layout::any({channels, sizes[1], 1, 1}),
                   /*has_bias=*/true, Layout::channels_last({n, channels, h, w}), Dims{1, 1},
                   Dims{0, 0}, Dims{0, 0}, Dims{1, 1}, /*is_winograd=*/false, chain.post_ops}),
              chain, {.parameters = {given, given_bias}});
  const Dims pixels = {n, out, h, rows, w, columns};
  const at::DimVector to = rewriter.tensor(output).strides;
  const PrimitivePtr reorder = onednn::make_reorder(
      Layout::strided(pixels, {h * w * channels, 1, w * channels, columns * out, channels, out}),
      Layout::strided(pixels, {to[0], to[1], rows * to[2], to[2], columns * to[3], to[3]}));
  if (product == nullptr || reorder == nullptr) return 0;
  const Layout& wanted = product->inputs[1];
  const auto [key, sources] = chain.sources_of(given, given_bias);
  const TensorId weight = rewriter.packed("transposed" + key + wanted.key(), sources, [&] {
    const at::Tensor plain =
        chain.normed_weight(given, 1).permute({2, 3, 1, 0}).reshape({channels, sizes[1], 1, 1});
    return reorder_constant(plain, Layout::strided(wanted.sizes(), plain.strides().vec()), wanted);
  });
  const TensorId bias = rewriter.packed("transposed" + key + "bias", sources, [&] {
    const at::Tensor sum = chain.normed_bias(given_bias);
    return (sum.defined() ? sum : at::zeros({out})).repeat({rows * columns});
  });
  const TensorId made = rewriter.make(
      product, {rewriter.use(source, product->inputs[0]), weight, bias}, chain.calls.back());
  rewriter.emit(reorder, {made}, output, chain.calls.back());
  return chain.calls.size();
}

}  // namespace

std::optional<Replacement> replace_transposed(TraceRewriter& rewriter, size_t index) {
  const TraceCall& call = rewriter.call(index);
  const CallArguments arguments(call);
  const auto input = arguments.tensor("input");
  const auto source = input ? input : arguments.tensor("self");
  const at::Tensor weight = rewriter.known(arguments.tensor("weight"));
  const at::Tensor bias = rewriter.known(arguments.tensor("bias"));
  const c10::IValue transposed = arguments.value("transposed");
  const bool is_known = source && weight.defined() && rewriter.is_value(*source) &&
                        rewriter.is_value(call.outputs[0]) &&
                        bias.defined() == arguments.tensor("bias").has_value() &&
                        rewriter.tensor(*source).sizes.size() == 4 &&
                        !(transposed.isBool() && !transposed.toBool());
  if (!is_known) return std::nullopt;
  const bool is_apart =
      arguments.integers("stride", 2, 1) == Dims{weight.size(2), weight.size(3)} &&
      arguments.integers("padding", 2, 0) == Dims{0, 0} &&
      arguments.integers("output_padding", 2, 0) == Dims{0, 0} &&
      arguments.integers("dilation", 2, 1) == Dims{1, 1} && arguments.number("groups", 1) == 1;
  if (!is_apart) return std::nullopt;
  const Chain chain = chain_after(rewriter, index, {.takes_norm = true, .takes_addition = false});
  return Replacement{chain.calls, [=, &rewriter] {
                       return emit_transposed(rewriter, *source, weight, bias, chain);
                     }};
}

}  // namespace torch_ir
