#include <ATen/ops/ones.h>

#include <cstdint>

#include "torch_ir/fast/rules.h"

namespace torch_ir {
namespace {

// Measured: from these channels on Winograd's algorithm is faster than the direct one: each output
// channel shares the cost of transforming the input. With more weights than this and few pixels it
// is slower, as the weights leave the cache.
constexpr int64_t kMinWinogradInputs = 16;
constexpr int64_t kMinWinogradOutputs = 48;
constexpr int64_t kMinWinogradPixels = 4;
constexpr int64_t kManyWinogradWeights = 128 * 128;
constexpr int64_t kMinPixelsForManyWeights = 64;

struct TracedConvolution {
  TensorId source;
  at::Tensor weight;
  at::Tensor bias;
  Dims strides;
  Dims padding_before;
  Dims padding_after;
  Dims dilation;
  int64_t groups;
  Chain chain;

  bool has_bias() const { return bias.defined() || chain.norm; }
};

bool is_winograd(const TracedConvolution& convolution, const TraceTensor& output) {
  const at::Tensor& weight = convolution.weight;
  if (convolution.groups != 1 || weight.dim() != 4 || weight.size(2) != 3 || weight.size(3) != 3 ||
      convolution.strides != Dims{1, 1} || convolution.dilation != Dims{1, 1}) {
    return false;
  }
  const int64_t pixels = output.sizes[0] * output.sizes[2] * output.sizes[3];
  const bool has_many_weights = weight.size(0) * weight.size(1) > kManyWinogradWeights;
  return weight.size(0) >= kMinWinogradOutputs && weight.size(1) >= kMinWinogradInputs &&
         pixels >= (has_many_weights ? kMinPixelsForManyWeights : kMinWinogradPixels);
}

// Adds the weights and the bias, if there is one, with the batch norm of the chain.
void add_parameters(TraceRewriter& rewriter, const TracedConvolution& convolution,
                    const Layout& wanted, std::vector<TensorId>& inputs) {
  const Chain& chain = convolution.chain;
  const at::Tensor& bias = convolution.bias;
  const auto [key, sources] = chain.sources_of(convolution.weight, bias);
  inputs.push_back(rewriter.packed(key + wanted.key(), sources, [&] {
    return reorder_constant(chain.normed_weight(convolution.weight, 0).contiguous(),
                            contiguous_layout(wanted.sizes()), wanted);
  }));
  if (chain.norm) {
    inputs.push_back(
        rewriter.packed(key + "bias", sources, [&] { return chain.normed_bias(bias); }));
  } else if (bias.defined()) {
    inputs.push_back(rewriter.add_constant(bias.contiguous()));
  }
}

// False if the library could not make the primitive, or must not run it.
bool emit_made(TraceRewriter& rewriter, const TracedConvolution& convolution,
               const PrimitivePtr& made, const std::optional<PostOp>& activation,
               bool is_winograd) {
  const Chain& chain = convolution.chain;
  const PrimitivePtr primitive =
      guarded(made, chain,
              {.parameters = {convolution.weight, convolution.bias}, .is_winograd = is_winograd});
  if (primitive == nullptr) return false;
  // A product has two dimensions.
  const auto use = [&](TensorId id, const Layout& layout) {
    const Dims sizes = rewriter.sizes(id);
    return rewriter.use(id, layout.sizes() == sizes ? layout : contiguous_layout(sizes));
  };
  std::vector<TensorId> inputs = {use(convolution.source, primitive->inputs[0])};
  add_parameters(rewriter, convolution, primitive->inputs[1], inputs);
  std::optional<TensorId> written;
  if (chain.addend) written = use(*chain.addend, primitive->output);
  rewriter.emit(primitive, std::move(inputs), chain.output, chain.calls.back(), written);
  if (activation) emit_activation(rewriter, *activation, chain.output, chain.calls.back());
  return true;
}

// Of one pixel, and many weights: a product of its channels.
bool emit_product(TraceRewriter& rewriter, const TracedConvolution& convolution) {
  const Chain& chain = convolution.chain;
  const at::Tensor& weight = convolution.weight;
  const Dims from = rewriter.sizes(convolution.source);
  const Dims to = rewriter.sizes(chain.output);
  const Dims ones(from.size() - 2, 1);
  const auto is_one_pixel = [&](at::IntArrayRef sizes) { return sizes.slice(2) == ones; };
  if (convolution.groups != 1 || !is_one_pixel(from) || !is_one_pixel(to) ||
      !is_one_pixel(weight.sizes()) || convolution.padding_before != Dims(ones.size(), 0) ||
      !keeps_weights(from[0], weight.numel())) {
    return false;
  }
  PostOps post_ops = chain.post_ops;
  const auto activation = take_activation(post_ops, /*is_winograd=*/false);
  const PrimitivePtr product = onednn::make_inner_product(
      contiguous_layout({from[0], from[1]}), contiguous_layout({to[1], from[1]}),
      convolution.has_bias(), Type::kFloat, post_ops);
  return emit_made(rewriter, convolution, product, activation, /*is_winograd=*/false);
}

bool emit_with(TraceRewriter& rewriter, const TracedConvolution& convolution, const Layout& source,
               bool is_winograd) {
  PostOps post_ops = convolution.chain.post_ops;
  const auto activation = take_activation(post_ops, is_winograd);
  const Dims sizes = rewriter.sizes(convolution.chain.output);
  // Given a channels-last source, oneDNN may pick another output layout.
  const bool is_channels_last = source == Layout::channels_last(source.sizes());
  const PrimitivePtr made = onednn::make_convolution(
      {source, Layout::any(grouped_sizes(convolution.weight.sizes(), convolution.groups)),
       convolution.has_bias(), is_channels_last ? Layout::channels_last(sizes) : Layout::any(sizes),
       convolution.strides, convolution.padding_before, convolution.padding_after,
       convolution.dilation, is_winograd, post_ops});
  return emit_made(rewriter, convolution, made, activation, is_winograd);
}

size_t emit_any(TraceRewriter& rewriter, TracedConvolution convolution) {
  Chain& chain = convolution.chain;
  if (chain.addend && !may_sum(rewriter, chain, convolution.source)) {
    chain = Chain(*chain.before_addition);
  }
  chain.output = rewriter.shaped_like(chain.output, chain.made);
  if (chain.addend) chain.addend = rewriter.shaped_like(*chain.addend, chain.made);
  const Layout made = rewriter.layout_of(convolution.source);
  const Layout any = Layout::any(made.sizes());
  // With groups a reorder takes longer than the best layout saves.
  const bool keeps_layout = convolution.groups > 1 && (rewriter.is_carried(convolution.source) ||
                                                       made == Layout::channels_last(made.sizes()));
  const bool is_done =
      emit_product(rewriter, convolution) ||
      (is_winograd(convolution, rewriter.tensor(chain.output)) &&
       emit_with(rewriter, convolution, any, /*is_winograd=*/true)) ||
      (keeps_layout && emit_with(rewriter, convolution, made, /*is_winograd=*/false)) ||
      emit_with(rewriter, convolution, any, /*is_winograd=*/false);
  return is_done ? chain.calls.size() : 0;
}

// Cuts the outer taps of the kernel that read only padding, as with DeepLab's dilations on small
// images: oneDNN has no fast depthwise convolution for them.
void cut_outer_taps(TracedConvolution& convolution, at::IntArrayRef from, at::IntArrayRef to) {
  for (size_t d = 0; d + 2 < from.size(); ++d) {
    const auto axis = static_cast<int64_t>(d) + 2;
    const int64_t step = convolution.dilation[d];
    int64_t before = convolution.padding_before[d];
    int64_t after = convolution.padding_after[d];
    int64_t first = 0;
    int64_t count = convolution.weight.size(axis);
    const int64_t last_begin = (to[axis] - 1) * convolution.strides[d];
    for (; count > 1 && before >= step && last_begin < before; before -= step, --count) ++first;
    for (; count > 1 && after >= step && (count - 1) * step >= from[axis] + before; after -= step) {
      --count;
    }
    if (count == convolution.weight.size(axis)) continue;
    // Zeros times infinity may be in eager's sum.
    if (!convolution.weight.isfinite().all().item<bool>()) return;
    convolution.padding_before[d] = before;
    convolution.padding_after[d] = after;
    convolution.weight = convolution.weight.narrow(axis, first, count);
    if (count == 1) convolution.dilation[d] = 1;
  }
}

Replacement replacement_of(TraceRewriter& rewriter, const TracedConvolution& convolution) {
  return {convolution.chain.calls, [=, &rewriter] { return emit_any(rewriter, convolution); }};
}

}  // namespace

Dims grouped_sizes(at::IntArrayRef weight, int64_t groups) {
  Dims sizes = weight.vec();
  if (groups > 1) {
    sizes[0] /= groups;
    sizes.insert(sizes.begin(), groups);
  }
  return sizes;
}

std::optional<Replacement> replace_convolution(TraceRewriter& rewriter, size_t index,
                                               const Padding& padding) {
  const TraceCall& call = rewriter.call(index);
  const CallArguments arguments(call);
  const TensorId source = padding.source;
  const at::Tensor weight = rewriter.known(arguments.tensor("weight"));
  const at::Tensor bias = rewriter.known(arguments.tensor("bias"));
  const size_t dims = rewriter.tensor(source).sizes.size();
  if (dims < 3 || call.outputs.empty() || padding.value != 0 || !rewriter.is_value(source) ||
      !rewriter.is_value(call.outputs[0]) || !weight.defined() ||
      static_cast<size_t>(weight.dim()) != dims ||
      bias.defined() != arguments.tensor("bias").has_value()) {
    return std::nullopt;
  }
  const Dims own = arguments.integers("padding", dims - 2, 0);
  const Dims before = sum_of(own, padding.before);
  const Dims after = sum_of(own, padding.after);
  const Dims strides = arguments.integers("stride", dims - 2, 1);
  const Dims dilation = arguments.integers("dilation", dims - 2, 1);
  const int64_t groups = arguments.integers("groups", 1, 1)[0];
  const Chain chain = chain_after(rewriter, index, {.takes_norm = true});
  TracedConvolution traced{source, weight, bias, strides, before, after, dilation, groups, chain};
  cut_outer_taps(traced, rewriter.sizes(source), rewriter.sizes(call.outputs[0]));
  return replacement_of(rewriter, traced);
}

std::optional<Replacement> replace_channel_scale(TraceRewriter& rewriter, size_t index) {
  const auto scale = channel_scale_of(rewriter, index);
  if (!scale || !rewriter.is_value(scale->source) ||
      !rewriter.is_value(rewriter.call(index).outputs[0]) || !rewriter.is_carried(scale->source)) {
    return std::nullopt;
  }
  const Dims sizes = rewriter.sizes(scale->source);
  if (sizes.size() < 3) return std::nullopt;
  Dims weight_sizes(sizes.size(), 1);
  weight_sizes[0] = sizes[1];
  const Dims ones(sizes.size() - 2, 1);
  const Dims zeros(sizes.size() - 2, 0);
  const Chain chain = chain_after(rewriter, index, {.norm = scale});
  return replacement_of(rewriter, {scale->source, at::ones(weight_sizes), at::Tensor(), ones, zeros,
                                   zeros, ones, sizes[1], chain});
}

}  // namespace torch_ir
