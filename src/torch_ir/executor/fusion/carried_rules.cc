#include <ATen/ops/full_like.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <memory>

#include "torch_ir/executor/fusion/call_arguments.h"
#include "torch_ir/executor/fusion/rules.h"

namespace torch_ir {
namespace {

using onednn::Dims;
using onednn::Layout;
using onednn::Pooling;
using onednn::PostOps;

using Replacement = TraceRewriter::Replacement;

// A call alone, whose result is made of `inputs`.
Replacement alone(TraceRewriter& rewriter, size_t index, TensorId output,
                  onednn::PrimitivePtr primitive, std::vector<TensorId> inputs) {
  return {{index}, [&rewriter, index, output, primitive, inputs] {
            if (primitive == nullptr) return size_t{0};
            rewriter.emit(primitive, inputs, output, index);
            return size_t{1};
          }};
}

// The source of a call that lies in the layout of a convolution.
std::optional<TensorId> carried_source(TraceRewriter& rewriter, const TraceCall& call,
                                       std::string_view name) {
  const auto source = CallArguments(call).tensor(name);
  const bool is_taken =
      source && !call.outputs.empty() && rewriter.is_value(*source) &&
      rewriter.is_value(call.outputs[0]) && rewriter.tensor(*source).sizes.size() == 4 &&
      rewriter.tensor(call.outputs[0]).sizes.size() == 4 && rewriter.is_carried(*source);
  return is_taken ? source : std::nullopt;
}

Dims sizes_of(const TraceRewriter& rewriter, TensorId id) {
  const at::DimVector& sizes = rewriter.tensor(id).sizes;
  return {sizes.begin(), sizes.end()};
}

struct Window {
  Dims kernel;
  Dims strides;
  Dims padding;
};

std::optional<Replacement> pool(TraceRewriter& rewriter, size_t index, TensorId source,
                                Pooling pooling, const Window& window) {
  const TensorId output = rewriter.call(index).outputs[0];
  const Layout layout = rewriter.layout_of(source);
  const onednn::PrimitivePtr primitive =
      onednn::make_pooling(pooling, layout, Layout::any(sizes_of(rewriter, output)), window.kernel,
                           window.strides, window.padding, window.padding);
  if (primitive == nullptr) return std::nullopt;
  return alone(rewriter, index, output, primitive, {rewriter.use(source, layout)});
}

Window window_of(const CallArguments& arguments) {
  const Dims kernel = arguments.integers("kernel_size", 2, 1);
  Dims strides = arguments.integers("stride", 2, 0);
  if (strides[0] == 0) strides = kernel;
  return {kernel, strides, arguments.integers("padding", 2, 0)};
}

// oneDNN's maximum leaves out what is not a number.
std::optional<Replacement> replace_max_pool(TraceRewriter& rewriter, size_t index) {
  const TraceCall& call = rewriter.call(index);
  const CallArguments arguments(call);
  const auto source = carried_source(rewriter, call, "self");
  const bool is_taken =
      source && rewriter.is_clean(*source) && !rewriter.is_read(call.outputs[1]) &&
      arguments.integers("dilation", 2, 1) == Dims{1, 1} && !arguments.value("ceil_mode").toBool();
  if (!is_taken) return std::nullopt;
  return pool(rewriter, index, *source, Pooling::kMax, window_of(arguments));
}

std::optional<Replacement> replace_average_pool(TraceRewriter& rewriter, size_t index) {
  const TraceCall& call = rewriter.call(index);
  const CallArguments arguments(call);
  const auto source = carried_source(rewriter, call, "self");
  if (!source || arguments.value("ceil_mode").toBool() ||
      !arguments.value("divisor_override").isNone()) {
    return std::nullopt;
  }
  const bool counts_padding = arguments.value("count_include_pad").toBool();
  return pool(rewriter, index, *source,
              counts_padding ? Pooling::kAverageWithPadding : Pooling::kAverage,
              window_of(arguments));
}

// Windows that are all alike.
std::optional<Replacement> replace_adaptive_average_pool(TraceRewriter& rewriter, size_t index) {
  const TraceCall& call = rewriter.call(index);
  const auto source = carried_source(rewriter, call, "self");
  if (!source) return std::nullopt;
  Window window{{}, {}, {0, 0}};
  for (size_t d = 2; d < 4; ++d) {
    const int64_t from = rewriter.tensor(*source).sizes[d];
    const int64_t to = rewriter.tensor(call.outputs[0]).sizes[d];
    if (to == 0 || from % to != 0) return std::nullopt;
    window.kernel.push_back(from / to);
  }
  window.strides = window.kernel;
  return pool(rewriter, index, *source, Pooling::kAverage, window);
}

// Of all pixels, one window.
std::optional<Replacement> replace_mean(TraceRewriter& rewriter, size_t index) {
  const TraceCall& call = rewriter.call(index);
  const CallArguments arguments(call);
  Dims dims = arguments.integers("dim", 0, 0);
  for (int64_t& dim : dims) dim = dim < 0 ? dim + 4 : dim;
  std::ranges::sort(dims);
  const bool is_taken = dims == Dims{2, 3} && arguments.value("keepdim").toBool() &&
                        arguments.value("dtype").isNone();
  return is_taken ? replace_adaptive_average_pool(rewriter, index) : std::nullopt;
}

std::optional<Replacement> replace_functions(TraceRewriter& rewriter, size_t index) {
  const TraceCall& call = rewriter.call(index);
  const PostOps functions = functions_of(call);
  const auto source = carried_source(rewriter, call, "self");
  if (!source || functions.empty() || !rewriter.have_same_layout(*source, call.outputs[0])) {
    return std::nullopt;
  }
  const Layout layout = rewriter.layout_of(*source);
  const onednn::PrimitivePtr primitive = onednn::make_elementwise(layout, functions);
  if (primitive == nullptr) return std::nullopt;
  return alone(rewriter, index, call.outputs[0], primitive, {rewriter.use(*source, layout)});
}

// With the activation after it.
std::optional<Replacement> replace_binary(TraceRewriter& rewriter, size_t index,
                                          onednn::Binary binary) {
  const TraceCall& call = rewriter.call(index);
  const CallArguments arguments(call);
  const auto self = arguments.tensor("self");
  const auto other = arguments.tensor("other");
  if (!self || !other || arguments.number("alpha", 1) != 1) return std::nullopt;
  const TensorId output = call.outputs[0];
  const auto is_whole = [&](TensorId id) {
    return rewriter.is_value(id) && rewriter.have_same_layout(id, output) &&
           sizes_of(rewriter, id).size() == 4;
  };
  const auto broadcasts = [&](TensorId id) {
    const Dims sizes = sizes_of(rewriter, id);
    const Dims all = sizes_of(rewriter, output);
    return rewriter.is_value(id) && sizes.size() == 4 && sizes[0] == all[0] && sizes[1] == all[1] &&
           sizes[2] == 1 && sizes[3] == 1;
  };
  TensorId first = *self;
  TensorId second = *other;
  if (!is_whole(first) || (is_whole(second) && !rewriter.is_carried(first))) {
    std::swap(first, second);
  }
  if (!is_whole(first) || !rewriter.is_carried(first) ||
      !(is_whole(second) || broadcasts(second))) {
    return std::nullopt;
  }
  Chain chain = chain_after(rewriter, index, output, ChainShape::kSame, /*takes_norm=*/false);
  if (chain.addend) chain.cut_at_addition();
  std::vector<size_t> calls = chain.calls;
  return Replacement{
      calls, [&rewriter, chain, first, second, binary] {
        const Layout layout = rewriter.layout_of(first);
        const bool is_same = rewriter.tensor(first).sizes == rewriter.tensor(second).sizes;
        const Layout second_layout = is_same ? layout : rewriter.plain_layout(second);
        const onednn::PrimitivePtr primitive =
            onednn::make_binary(binary, layout, second_layout, chain.post_ops);
        if (primitive == nullptr) return size_t{0};
        rewriter.emit(primitive, {rewriter.use(first, layout), rewriter.use(second, second_layout)},
                      chain.output, chain.calls.back());
        return chain.calls.size();
      }};
}

std::optional<Replacement> replace_addition(TraceRewriter& rewriter, size_t index) {
  return replace_binary(rewriter, index, onednn::Binary::kAdd);
}

std::optional<Replacement> replace_multiplication(TraceRewriter& rewriter, size_t index) {
  return replace_binary(rewriter, index, onednn::Binary::kMultiply);
}

Layout channels_last(const Dims& sizes) {
  const int64_t row = sizes[1] * sizes[3];
  return Layout::strided(sizes, {row * sizes[2], 1, row, sizes[1]});
}

// With channels last.
size_t concatenate(TraceRewriter& rewriter, const std::vector<TensorId>& sources, TensorId output,
                   size_t index) {
  std::vector<Layout> layouts;
  for (const TensorId source : sources)
    layouts.push_back(channels_last(sizes_of(rewriter, source)));
  const onednn::PrimitivePtr primitive =
      onednn::make_concatenation(1, layouts, channels_last(sizes_of(rewriter, output)));
  if (primitive == nullptr) return 0;
  std::vector<TensorId> inputs;
  for (size_t i = 0; i < sources.size(); ++i) {
    inputs.push_back(rewriter.use(sources[i], layouts[i]));
  }
  rewriter.emit(primitive, std::move(inputs), output, index);
  return 1;
}

// The blocks that the channels of one image can be joined in: those of the first that has some.
std::optional<int64_t> common_block(TraceRewriter& rewriter, const std::vector<TensorId>& sources) {
  std::optional<int64_t> block;
  for (const TensorId source : sources) {
    if (!block && rewriter.is_carried(source)) block = rewriter.layout_of(source).block();
  }
  const bool fits = block && std::ranges::all_of(sources, [&](TensorId source) {
                      const at::DimVector& sizes = rewriter.tensor(source).sizes;
                      return sizes[0] == 1 && sizes[1] % *block == 0;
                    });
  return fits ? block : std::nullopt;
}

// Of channels.
std::optional<Replacement> replace_concatenation(TraceRewriter& rewriter, size_t index) {
  const TraceCall& call = rewriter.call(index);
  const CallArguments arguments(call);
  const std::vector<TensorId> sources = arguments.tensors("tensors");
  const TensorId output = call.outputs[0];
  const auto is_image = [&](TensorId id) {
    return rewriter.is_value(id) && rewriter.tensor(id).sizes.size() == 4;
  };
  const auto is_carried = [&](TensorId id) { return rewriter.is_carried(id); };
  if (sources.empty() || arguments.number("dim", 0) != 1 || !is_image(output) ||
      !std::ranges::all_of(sources, is_image) || !std::ranges::any_of(sources, is_carried)) {
    return std::nullopt;
  }
  const auto block = common_block(rewriter, sources);
  return Replacement{{index}, [&rewriter, sources, output, index, block] {
                       if (block) {
                         rewriter.join(sources, output, *block, index);
                         return size_t{1};
                       }
                       return concatenate(rewriter, sources, output, index);
                     }};
}

// A batch norm that is no part of a convolution, with the rectifier after it.
std::optional<Replacement> replace_norm(TraceRewriter& rewriter, size_t index) {
  const TraceCall& call = rewriter.call(index);
  const auto source = carried_source(rewriter, call, "input");
  if (!source || !channel_scale_of(rewriter, index)) return std::nullopt;
  const TensorId output = call.outputs[0];
  Chain chain{{index}, output};
  if (const auto next = rewriter.only_reader(output); next && rewriter.is_open(*next)) {
    const TraceCall& reader = rewriter.call(*next);
    const PostOps functions = functions_of(reader);
    if (functions.size() == 1 && functions[0].function == onednn::Function::kRelu &&
        functions[0].alpha == 0 && rewriter.have_same_layout(reader.outputs[0], output)) {
      chain.calls.push_back(*next);
      chain.output = reader.outputs[0];
    }
  }
  return Replacement{
      chain.calls, [&rewriter, chain, source = *source, index] {
        const Layout layout = rewriter.layout_of(source);
        const bool with_relu = chain.calls.size() > 1;
        const onednn::PrimitivePtr primitive = onednn::make_channel_scale(layout, with_relu);
        if (primitive == nullptr) return size_t{0};
        const ChannelScale norm = *channel_scale_of(rewriter, index);
        std::vector<TensorId> inputs = {rewriter.use(source, layout)};
        for (const at::Tensor& constant :
             {at::zeros_like(norm.scale), at::full_like(norm.scale, onednn::kChannelVariance),
              norm.scale, norm.shift}) {
          inputs.push_back(rewriter.add_constant(constant.to(at::kFloat).contiguous()));
        }
        rewriter.emit(primitive, std::move(inputs), chain.output, chain.calls.back());
        return chain.calls.size();
      }};
}

constexpr RuleEntry kCarriedRules[] = {
    {"aten::_adaptive_avg_pool2d", &replace_adaptive_average_pool},
    {"aten::_native_batch_norm_legit_no_training", &replace_norm},
    {"aten::add.Tensor", &replace_addition},
    {"aten::avg_pool2d", &replace_average_pool},
    {"aten::cat", &replace_concatenation},
    {"aten::clamp", &replace_functions},
    {"aten::clamp_min", &replace_functions},
    {"aten::elu", &replace_functions},
    {"aten::gelu", &replace_functions},
    {"aten::hardsigmoid", &replace_functions},
    {"aten::hardswish", &replace_functions},
    {"aten::hardtanh", &replace_functions},
    {"aten::leaky_relu", &replace_functions},
    {"aten::max_pool2d_with_indices", &replace_max_pool},
    {"aten::mean.dim", &replace_mean},
    {"aten::mul.Tensor", &replace_multiplication},
    {"aten::native_batch_norm", &replace_norm},
    {"aten::relu", &replace_functions},
    {"aten::sigmoid", &replace_functions},
    {"aten::silu", &replace_functions},
    {"aten::tanh", &replace_functions},
};

}  // namespace

RuleTable carried_rules() { return kCarriedRules; }

}  // namespace torch_ir
