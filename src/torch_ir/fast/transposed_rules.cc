// Transposed convolutions whose windows do not overlap, as those of a U-Net: a 1x1 convolution
// makes the pixels of each window as channels, and a reorder puts them into their places. Measured:
// oneDNN 2.6 takes four times as long for its own, and LibTorch packs the weights in each run.
#include <ATen/ops/zeros.h>

#include "torch_ir/fast/rules.h"

namespace torch_ir {
namespace {

using onednn::Dims;
using onednn::Layout;

struct TransposedConvolution {
  TensorId source;
  // [channels in, channels out, height, width]
  at::Tensor weight;
  at::Tensor bias;
  Chain chain;
};

size_t emit_transposed(TraceRewriter& rewriter, const TransposedConvolution& traced) {
  const Chain& chain = traced.chain;
  const TensorId output = rewriter.shaped_like(chain.output, chain.made);
  const at::DimVector sizes = rewriter.tensor(traced.source).sizes;
  const int64_t n = sizes[0];
  const int64_t h = sizes[2];
  const int64_t w = sizes[3];
  const int64_t out = traced.weight.size(1);
  const int64_t rows = traced.weight.size(2);
  const int64_t columns = traced.weight.size(3);
  const int64_t channels = rows * columns * out;
  const onednn::PrimitivePtr product = guarded(
      onednn::make_convolution(
          {Layout::any({n, sizes[1], h, w}), Layout::any({channels, sizes[1], 1, 1}),
           contiguous_layout({channels}), Layout::channels_last({n, channels, h, w}), Dims{1, 1},
           Dims{0, 0}, Dims{0, 0}, Dims{1, 1}, /*is_winograd=*/false, chain.post_ops}),
      chain, {.parameters = {traced.weight, traced.bias}});
  const Dims pixels = {n, out, h, rows, w, columns};
  const at::DimVector to = rewriter.tensor(output).strides;
  const onednn::PrimitivePtr reorder = onednn::make_reorder(
      Layout::strided(pixels, {h * w * channels, 1, w * channels, columns * out, channels, out}),
      Layout::strided(pixels, {to[0], to[1], rows * to[2], to[2], columns * to[3], to[3]}));
  if (product == nullptr || reorder == nullptr) return 0;
  std::vector<at::Tensor> sources = {traced.weight, traced.bias};
  std::string key = "transposed";
  if (chain.norm) {
    sources.insert(sources.end(), chain.norm->sources.begin(), chain.norm->sources.end());
    key += chain.norm->key + ' ';
  }
  const Layout& wanted = product->inputs[1];
  const TensorId weight = rewriter.packed(key + wanted.key(), sources, [&] {
    const at::Tensor plain = chain.normed_weight(traced.weight, 1)
                                 .permute({2, 3, 1, 0})
                                 .reshape({channels, sizes[1], 1, 1});
    return reorder_constant(plain, Layout::strided(wanted.sizes(), plain.strides().vec()), wanted);
  });
  const TensorId bias = rewriter.packed(key + "bias", sources, [&] {
    const at::Tensor sum = chain.normed_bias(traced.bias);
    return (sum.defined() ? sum : at::zeros({out})).repeat({rows * columns});
  });
  const TensorId made = rewriter.make(
      product, {rewriter.use(traced.source, product->inputs[0]), weight, bias}, chain.calls.back());
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
  TransposedConvolution traced{
      *source, weight, bias,
      chain_after(rewriter, index, call.outputs[0], ChainShape::kSame, /*takes_norm=*/true)};
  if (traced.chain.addend) traced.chain.cut_at_addition();
  return Replacement{traced.chain.calls,
                     [&rewriter, traced] { return emit_transposed(rewriter, traced); }};
}

}  // namespace torch_ir
