#include <ATen/ops/from_blob.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <c10/core/MemoryFormat.h>

#include <algorithm>

#include "torch_ir/fast/rules.h"

namespace torch_ir {
namespace {

bool is_image_of(const TraceRewriter& rewriter, const TraceCall& call, TensorId source) {
  return !call.outputs.empty() && rewriter.is_value(source) && rewriter.is_value(call.outputs[0]) &&
         rewriter.tensor(source).sizes.size() == 4;
}

// Whether `source`, which `call` reads, is an image in a convolution's layout.
bool is_carried_into(TraceRewriter& rewriter, const TraceCall& call, TensorId source) {
  return is_image_of(rewriter, call, source) && rewriter.is_carried(source);
}

// An output of another shape than the primitive's must have the same memory.
std::optional<Replacement> pool(TraceRewriter& rewriter, size_t index, TensorId source,
                                const PrimitivePtr& primitive) {
  if (primitive == nullptr) return std::nullopt;
  const TensorId output = rewriter.call(index).outputs[0];
  const Dims& sizes = primitive->output.sizes();
  const bool has_shape = sizes == rewriter.sizes(output);
  const bool is_plain = primitive->output == contiguous_layout(sizes);
  if (!has_shape && !(is_plain && rewriter.is_contiguous(output))) return std::nullopt;
  return Replacement{{index}, [&rewriter, index, output, primitive, source] {
                       rewriter.emit(primitive, {rewriter.use(source, primitive->inputs[0])},
                                     output, index);
                       return size_t{1};
                     }};
}

// Nothing if a window may lie entirely in the padding. In ceil mode the last windows may extend
// past the padding: for oneDNN that is more padding.
std::optional<Window> window_of(const TraceRewriter& rewriter, const TraceCall& call,
                                const Padding& padding) {
  const CallArguments arguments(call);
  const Dims kernel = arguments.integers("kernel_size", 2, 1);
  Dims strides = arguments.integers("stride", 2, 0);
  if (strides[0] == 0) strides = kernel;
  const Dims own = arguments.integers("padding", 2, 0);
  Window window{kernel, strides, sum_of(own, padding.before), sum_of(own, padding.after)};
  const Dims from = rewriter.sizes(padding.source);
  const Dims to = rewriter.sizes(call.outputs[0]);
  for (size_t d = 0; d < 2; ++d) {
    const int64_t end = (to[d + 2] - 1) * strides[d] + kernel[d];
    const int64_t begin = from[d + 2] + window.padding_before[d];
    window.padding_after[d] = std::max(window.padding_after[d], end - begin);
  }
  const bool fits = std::ranges::equal(window.padding_before, kernel, std::ranges::less()) &&
                    std::ranges::equal(window.padding_after, kernel, std::ranges::less());
  return fits ? std::optional(window) : std::nullopt;
}

// oneDNN adds the numbers of a window one after another: the relative error of the mean of this
// many is up to 4e-5.
constexpr int64_t kMaxAveraged = 64 * 64;

PrimitivePtr make_average(TraceRewriter& rewriter, TensorId source, Pooling pooling,
                          const Window& window, const Dims& sizes) {
  if (window.kernel[0] * window.kernel[1] > kMaxAveraged) return nullptr;
  return onednn::make_pooling(pooling, rewriter.layout_of(source), Layout::any(sizes), window);
}

// Averages of equal parts of an image, as many as the last two of `sizes`.
std::optional<Replacement> average_parts(TraceRewriter& rewriter, size_t index,
                                         std::optional<TensorId> source, const Dims& sizes) {
  const TraceCall& call = rewriter.call(index);
  if (sizes.size() != 4 || !source || !is_carried_into(rewriter, call, *source)) {
    return std::nullopt;
  }
  Window window{{}, {}, {0, 0}, {0, 0}};
  for (size_t d = 2; d < 4; ++d) {
    const int64_t from = rewriter.tensor(*source).sizes[d];
    if (sizes[d] == 0 || from % sizes[d] != 0) return std::nullopt;
    window.kernel.push_back(from / sizes[d]);
  }
  window.strides = window.kernel;
  return pool(rewriter, index, *source,
              make_average(rewriter, *source, Pooling::kAverage, window, sizes));
}

// The layout for joining the channels of `sources`: the blocks of the first source that has them,
// if they fit; otherwise the channels of a pixel are contiguous. Nothing if none is carried.
std::optional<Layout> joined_layout(TraceRewriter& rewriter, const std::vector<TensorId>& sources,
                                    const Dims& sizes) {
  std::optional<int64_t> block;
  bool is_carried = false;
  for (const TensorId source : sources) {
    if (!rewriter.is_carried(source)) continue;
    is_carried = true;
    if (!block) block = rewriter.layout_of(source).block();
  }
  if (!is_carried) return std::nullopt;
  const bool fits = block && sizes[0] == 1 && std::ranges::all_of(sources, [&](TensorId source) {
                      return rewriter.tensor(source).sizes[1] % *block == 0;
                    });
  if (fits) return Layout::blocked(sizes, *block);
  return Layout::channels_last(sizes);
}

}  // namespace

std::optional<Replacement> replace_max_pool(TraceRewriter& rewriter, size_t index,
                                            const Padding& padding) {
  const TraceCall& call = rewriter.call(index);
  const bool is_known = is_carried_into(rewriter, call, padding.source) &&
                        !rewriter.is_read(call.outputs[1]) &&
                        CallArguments(call).integers("dilation", 2, 1) == Dims{1, 1};
  const auto window = is_known ? window_of(rewriter, call, padding) : std::nullopt;
  if (!window) return std::nullopt;
  return pool(rewriter, index, padding.source,
              make_max_pool(rewriter.layout_of(padding.source), rewriter.sizes(call.outputs[0]),
                            *window, padding));
}

std::optional<Replacement> replace_adaptive_average_pool(TraceRewriter& rewriter, size_t index) {
  const TraceCall& call = rewriter.call(index);
  return average_parts(rewriter, index, CallArguments(call).tensor("self"),
                       rewriter.sizes(call.outputs[0]));
}

std::optional<Replacement> replace_average_pool(TraceRewriter& rewriter, size_t index,
                                                const Padding& padding) {
  const TraceCall& call = rewriter.call(index);
  const CallArguments arguments(call);
  if (!arguments.value("divisor_override").isNone() ||
      !is_image_of(rewriter, call, padding.source)) {
    return std::nullopt;
  }
  const Dims kernel = arguments.integers("kernel_size", 2, 1);
  const Dims own = arguments.integers("padding", 2, 0);
  const Dims from = rewriter.sizes(padding.source);
  const Dims to = rewriter.sizes(call.outputs[0]);
  const bool has_own = own != Dims{0, 0};
  const bool is_padded = !padding.before.empty();
  // A window over the whole image, as at the end of Hugging Face's EfficientNet.
  if (!is_padded && !has_own && kernel[0] >= from[2] && kernel[1] >= from[3]) {
    return average_parts(rewriter, index, padding.source, to);
  }
  // The zeros of a call before it count; its own padding counts if it says so; what a window
  // extends past both never does.
  const auto window = window_of(rewriter, call, padding);
  const bool extends = window && window->padding_after != sum_of(own, padding.after);
  const bool counts_own = has_own && arguments.value("count_include_pad").toBool();
  const bool counts_any = counts_own || is_padded;
  // Taken in any layout, because LibTorch's average pooling takes several times as long.
  const bool is_taken = padding.value == 0 && window && (!is_padded || counts_own || !has_own) &&
                        !(extends && counts_any);
  if (!is_taken) return std::nullopt;
  const Pooling kind = counts_any ? Pooling::kAverageWithPadding : Pooling::kAverage;
  return pool(rewriter, index, padding.source,
              make_average(rewriter, padding.source, kind, *window, to));
}

// The mean of all pixels is pooling with one window.
std::optional<Replacement> replace_mean(TraceRewriter& rewriter, size_t index) {
  const CallArguments arguments(rewriter.call(index));
  const auto source = arguments.tensor("self");
  Dims dims = arguments.integers("dim", 0, 0);
  for (int64_t& dim : dims) dim = dim < 0 ? dim + 4 : dim;
  std::ranges::sort(dims);
  if (!source || dims != Dims{2, 3} || !arguments.value("dtype").isNone()) return std::nullopt;
  Dims sizes = rewriter.sizes(*source);
  if (sizes.size() != 4) return std::nullopt;
  sizes[2] = sizes[3] = 1;
  return average_parts(rewriter, index, source, sizes);
}

// With other factors LibTorch and oneDNN may choose other neighbours: LibTorch multiplies by the
// rounded 1 / factor.
std::optional<Replacement> replace_nearest(TraceRewriter& rewriter, size_t index) {
  const TraceCall& call = rewriter.call(index);
  const auto source = CallArguments(call).tensor("self");
  if (!source || !is_carried_into(rewriter, call, *source)) return std::nullopt;
  const Dims from = rewriter.sizes(*source);
  const Dims to = rewriter.sizes(call.outputs[0]);
  const CallArguments arguments(call);
  constexpr int64_t kMaxFactor = 16;
  const auto is_whole = [&](size_t d, std::string_view scale) {
    const int64_t factor = from[d] == 0 ? 0 : to[d] / from[d];
    return factor > 0 && factor <= kMaxFactor && to[d] == factor * from[d] &&
           arguments.number(scale, static_cast<double>(factor)) == static_cast<double>(factor);
  };
  if (!is_whole(2, "scales_h") || !is_whole(3, "scales_w")) return std::nullopt;
  return pool(rewriter, index, *source,
              onednn::make_repetition(rewriter.layout_of(*source), Layout::any(to)));
}

// Calls LibTorch's own kernel on an image in channels last, which is faster and saves two reorders.
std::optional<Replacement> replace_bilinear(TraceRewriter& rewriter, size_t index) {
  const TraceCall& call = rewriter.call(index);
  const CallArguments arguments(call);
  const auto source = arguments.tensor("self");
  if (!source || !is_carried_into(rewriter, call, *source)) return std::nullopt;
  const Dims from = rewriter.sizes(*source);
  const Dims to = rewriter.sizes(call.outputs[0]);
  const bool aligns_corners = arguments.value("align_corners").toBool();
  const auto scale_h = arguments.value("scales_h").toOptional<double>();
  const auto scale_w = arguments.value("scales_w").toOptional<double>();
  const auto run = [=](const std::vector<void*>& memory) {
    const auto image = [](void* data, const Dims& sizes) {
      return at::from_blob(data, sizes, c10::get_channels_last_strides_2d(sizes), at::kFloat);
    };
    at::Tensor output = image(memory[1], to);
    at::upsample_bilinear2d_out(output, image(memory[0], from), {to[2], to[3]}, aligns_corners,
                                scale_h, scale_w);
  };
  return pool(rewriter, index, *source,
              onednn::make_own("torch_ir::upsample_bilinear2d", {Layout::channels_last(from)},
                               Layout::channels_last(to), run));
}

std::optional<Replacement> replace_binary(TraceRewriter& rewriter, size_t index) {
  if (auto scaled = replace_channel_scale(rewriter, index)) return scaled;
  const TraceCall& call = rewriter.call(index);
  const CallArguments arguments(call);
  const auto self = arguments.tensor("self");
  const auto other = arguments.tensor("other");
  if (!self || !other || arguments.number("alpha", 1) != 1) return std::nullopt;
  const std::string name = call.name();
  const Binary kind = name == "aten::add"   ? Binary::kAdd
                      : name == "aten::mul" ? Binary::kMultiply
                                            : Binary::kSubtract;
  const TensorId output = call.outputs[0];
  const auto is_whole = [&](TensorId id) {
    return rewriter.is_value(id) && rewriter.have_same_layout(id, output) &&
           rewriter.sizes(id).size() == 4;
  };
  const auto broadcasts = [&](TensorId id) {
    const Dims sizes = rewriter.sizes(id);
    const Dims all = rewriter.sizes(output);
    return rewriter.is_value(id) && sizes.size() == 4 && sizes[0] == all[0] && sizes[1] == all[1] &&
           sizes[2] == 1 && sizes[3] == 1;
  };
  TensorId first = *self;
  TensorId second = *other;
  if (kind != Binary::kSubtract && !is_whole(first)) std::swap(first, second);
  const bool is_same = is_whole(second);
  // The one whose layout both get.
  const TensorId carried = is_same && !rewriter.is_carried(first) ? second : first;
  if (!is_whole(first) || !(is_same || broadcasts(second)) || !rewriter.is_carried(carried)) {
    return std::nullopt;
  }
  const Chain chain = chain_after(rewriter, index, {.takes_addition = false});
  return Replacement{
      chain.calls, [&rewriter, kind, chain, first, second, carried, is_same] {
        const Layout layout = rewriter.layout_of(carried);
        const Layout second_layout = is_same ? layout : rewriter.plain_layout(second);
        const PrimitivePtr primitive =
            guarded(onednn::make_binary(kind, layout, second_layout, chain.post_ops), chain,
                    {.num_sources = 2});
        if (primitive == nullptr) return size_t{0};
        rewriter.emit(primitive, {rewriter.use(first, layout), rewriter.use(second, second_layout)},
                      chain.output, chain.calls.back());
        return chain.calls.size();
      }};
}

std::optional<Replacement> replace_concatenation(TraceRewriter& rewriter, size_t index) {
  const TraceCall& call = rewriter.call(index);
  const CallArguments arguments(call);
  const std::vector<TensorId> sources = arguments.tensors("tensors");
  const TensorId output = call.outputs[0];
  const auto is_image = [&](TensorId id) {
    return rewriter.is_value(id) && rewriter.tensor(id).sizes.size() == 4;
  };
  if (sources.empty() || arguments.number("dim", 0) != 1 || !is_image(output) ||
      !std::ranges::all_of(sources, is_image)) {
    return std::nullopt;
  }
  const auto joined = joined_layout(rewriter, sources, rewriter.sizes(output));
  if (!joined) return std::nullopt;
  return Replacement{{index}, [&rewriter, sources, output, index, joined = *joined] {
                       rewriter.join(sources, output, joined, index);
                       return size_t{1};
                     }};
}

}  // namespace torch_ir
