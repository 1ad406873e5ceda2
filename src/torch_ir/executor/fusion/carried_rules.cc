#include <algorithm>

#include "torch_ir/executor/fusion/rules.h"

namespace torch_ir {
namespace {

using onednn::Dims;
using onednn::Layout;
using onednn::Pooling;

using Replacement = TraceRewriter::Replacement;

// The source of a call, if it has a convolution's layout.
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
                           window.strides, window.padding);
  if (primitive == nullptr) return std::nullopt;
  return Replacement{{index}, [&rewriter, index, output, primitive, source, layout] {
                       rewriter.emit(primitive, {rewriter.use(source, layout)}, output, index);
                       return size_t{1};
                     }};
}

Window window_of(const CallArguments& arguments) {
  const Dims kernel = arguments.integers("kernel_size", 2, 1);
  Dims strides = arguments.integers("stride", 2, 0);
  if (strides[0] == 0) strides = kernel;
  return {kernel, strides, arguments.integers("padding", 2, 0)};
}

// oneDNN's maximum ignores NaN.
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

// The mean of all pixels is pooling with one window.
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

// The block size for joining the channels of one image: that of the first source that has one.
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
  const auto block = common_block(rewriter, sources);
  if (!block) return std::nullopt;
  return Replacement{{index}, [&rewriter, sources, output, index, block = *block] {
                       rewriter.join(sources, output, block, index);
                       return size_t{1};
                     }};
}

constexpr RuleEntry kCarriedRules[] = {
    {"aten::_adaptive_avg_pool2d", &replace_adaptive_average_pool},
    {"aten::add.Tensor", &replace_addition},
    {"aten::avg_pool2d", &replace_average_pool},
    {"aten::cat", &replace_concatenation},
    {"aten::max_pool2d_with_indices", &replace_max_pool},
    {"aten::mean.dim", &replace_mean},
    {"aten::mul.Tensor", &replace_multiplication},
};

}  // namespace

RuleTable carried_rules() { return kCarriedRules; }

}  // namespace torch_ir
