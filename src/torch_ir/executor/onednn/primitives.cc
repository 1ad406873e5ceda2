#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "torch_ir/executor/onednn/library.h"

namespace torch_ir::onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;

const dnnl::memory::desc& descriptor(const Layout& layout) {
  return LayoutAccess::descriptor(layout);
}

algorithm algorithm_of(Function function) {
  switch (function) {
    case Function::kClip:
      return algorithm::eltwise_clip;
    case Function::kGeluErf:
      return algorithm::eltwise_gelu_erf;
    case Function::kGeluTanh:
      return algorithm::eltwise_gelu_tanh;
    case Function::kHardswish:
      return algorithm::eltwise_hardswish;
    case Function::kLogistic:
      return algorithm::eltwise_logistic;
    case Function::kRelu:
      return algorithm::eltwise_relu;
    case Function::kSwish:
      return algorithm::eltwise_swish;
    case Function::kTanh:
      return algorithm::eltwise_tanh;
  }
  return algorithm::undef;
}

algorithm algorithm_of(Binary binary) {
  return binary == Binary::kMultiply ? algorithm::binary_mul : algorithm::binary_add;
}

algorithm algorithm_of(Pooling pooling) {
  switch (pooling) {
    case Pooling::kMax:
      return algorithm::pooling_max;
    case Pooling::kAverage:
      return algorithm::pooling_avg_exclude_padding;
    case Pooling::kAverageWithPadding:
      return algorithm::pooling_avg_include_padding;
  }
  return algorithm::undef;
}

dnnl::primitive_attr attributes(const PostOps& post_ops = {}) {
  dnnl::post_ops list;
  for (const PostOp& op : post_ops) {
    if (op.kind == PostOp::Kind::kSum) {
      list.append_sum();
    } else {
      list.append_eltwise(1.0F, algorithm_of(op.function), op.alpha, op.beta);
    }
  }
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(list);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

// Below so much work a call is over before another thread has begun.
constexpr int64_t kSmallElements = 1 << 15;
constexpr int64_t kSmallMultiplications = 1 << 20;

int64_t product_of(const Dims& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies());
}

bool has_few_elements(const Layout& layout) { return product_of(layout.sizes()) < kSmallElements; }

// Each weight is used once for each row or pixel of the output, which has `channels` in all.
bool has_few_multiplications(const Layout& weights, const Layout& output, int64_t channels) {
  return product_of(output.sizes()) / std::max<int64_t>(channels, 1) * product_of(weights.sizes()) <
         kSmallMultiplications;
}

// What `make` gives; null where the library says that it can not.
template <class Make>
PrimitivePtr attempt(bool is_small, Make make) {
  const ThreadsGuard threads(is_small);
  try {
    return make();
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

// Of a description of a product with weights.
template <class Descriptor>
PrimitivePtr finish_product(const char* name, const Descriptor& product, bool has_bias,
                            bool is_small) {
  if (!product || is_reference(product)) return nullptr;
  ArgumentNames names{{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS}};
  std::vector<Layout> inputs = {LayoutAccess::layout(product.src_desc()),
                                LayoutAccess::layout(product.weights_desc())};
  if (has_bias) {
    names.inputs.push_back(DNNL_ARG_BIAS);
    inputs.push_back(LayoutAccess::layout(product.bias_desc()));
  }
  return finish(name, product, names, std::move(inputs), LayoutAccess::layout(product.dst_desc()),
                is_small);
}

}  // namespace

PrimitivePtr make_convolution(const Convolution& convolution) {
  const bool is_small = has_few_multiplications(convolution.weights, convolution.output,
                                                convolution.output.sizes()[1]);
  return attempt(is_small, [&] {
    const algorithm kind =
        convolution.is_winograd ? algorithm::convolution_winograd : algorithm::convolution_direct;
    Dims dilation = convolution.dilation;
    for (int64_t& distance : dilation) --distance;
    const auto describe = [&] {
      const auto& [source, weights, bias, output, strides, padding, unused, winograd, post_ops] =
          convolution;
      if (bias) {
        return dnnl::convolution_forward::desc(
            prop_kind::forward_inference, kind, descriptor(source), descriptor(weights),
            descriptor(*bias), descriptor(output), strides, dilation, padding, padding);
      }
      return dnnl::convolution_forward::desc(prop_kind::forward_inference, kind, descriptor(source),
                                             descriptor(weights), descriptor(output), strides,
                                             dilation, padding, padding);
    };
    const dnnl::convolution_forward::primitive_desc made(
        describe(), attributes(convolution.post_ops), cpu(), /*allow_empty=*/true);
    return finish_product(convolution.is_winograd ? "convolution_winograd" : "convolution", made,
                          convolution.bias.has_value(), is_small);
  });
}

PrimitivePtr make_inner_product(const Layout& source, const Layout& weights,
                                const std::optional<Layout>& bias, const Layout& output,
                                const PostOps& post_ops) {
  const bool is_small = has_few_multiplications(weights, output, output.sizes()[1]);
  return attempt(is_small, [&] {
    using Description = dnnl::inner_product_forward::desc;
    const Description description =
        bias ? Description(prop_kind::forward_inference, descriptor(source), descriptor(weights),
                           descriptor(*bias), descriptor(output))
             : Description(prop_kind::forward_inference, descriptor(source), descriptor(weights),
                           descriptor(output));
    const dnnl::inner_product_forward::primitive_desc made(description, attributes(post_ops), cpu(),
                                                           /*allow_empty=*/true);
    return finish_product("inner_product", made, bias.has_value(), is_small);
  });
}

PrimitivePtr make_reorder(const Layout& from, const Layout& to) {
  const bool is_small = has_few_elements(to);
  return attempt(is_small, [&] {
    const dnnl::reorder::primitive_desc made(cpu(), descriptor(from), cpu(), descriptor(to),
                                             attributes(), /*allow_empty=*/true);
    // Also a reference: nobody else knows the layouts.
    if (!made) return PrimitivePtr();
    return finish("reorder", made, {{DNNL_ARG_FROM}, DNNL_ARG_TO}, {from}, to, is_small);
  });
}

PrimitivePtr make_pooling(Pooling pooling, const Layout& source, const Layout& output,
                          const Dims& kernel, const Dims& strides, const Dims& padding,
                          const Dims& padding_after) {
  const bool is_small = has_few_elements(source);
  return attempt(is_small, [&] {
    const dnnl::pooling_forward::primitive_desc made(
        {prop_kind::forward_inference, algorithm_of(pooling), descriptor(source),
         descriptor(output), strides, kernel, padding, padding_after},
        attributes(), cpu(), /*allow_empty=*/true);
    if (!made || is_reference(made)) return PrimitivePtr();
    return finish("pooling", made, {{DNNL_ARG_SRC}}, {source},
                  LayoutAccess::layout(made.dst_desc()), is_small);
  });
}

PrimitivePtr make_binary(Binary binary, const Layout& first, const Layout& second,
                         const PostOps& post_ops) {
  const bool is_small = has_few_elements(first);
  return attempt(is_small, [&] {
    const dnnl::binary::primitive_desc made(
        {algorithm_of(binary), descriptor(first), descriptor(second), descriptor(first)},
        attributes(post_ops), cpu(), /*allow_empty=*/true);
    if (!made || is_reference(made)) return PrimitivePtr();
    ArgumentNames names{{DNNL_ARG_SRC_0, DNNL_ARG_SRC_1}};
    std::vector<Layout> inputs = {first, second};
    return finish("binary", made, names, std::move(inputs), first, is_small);
  });
}

}  // namespace torch_ir::onednn
