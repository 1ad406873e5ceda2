#include "torch_ir/fast/rules.h"

namespace torch_ir {

using onednn::Layout;

TensorId packed_weight(TraceRewriter& rewriter, const at::Tensor& weight, const Layout& wanted) {
  const Layout layout =
      Layout::strided(wanted.sizes(), weight.strides().vec(), type_of(weight.scalar_type()));
  return rewriter.packed(layout.key() + wanted.key(), {weight},
                         [&] { return reorder_constant(weight, layout, wanted); });
}

namespace {

// Measured: with fewer multiplications oneDNN's fixed cost per call exceeds its gain.
constexpr int64_t kMinMultiplications = 8192;

struct TracedLinear {
  TensorId source;
  at::Tensor weight;
  at::Tensor bias;
  Chain chain;
};

size_t emit(TraceRewriter& rewriter, TracedLinear linear) {
  Chain& chain = linear.chain;
  if (chain.addend && !may_sum(rewriter, chain, linear.source)) chain.cut_at_addition();
  const int64_t rows = rewriter.tensor(linear.source).sizes[0];
  const int64_t k = linear.weight.size(0);
  const int64_t columns = linear.weight.size(1);
  onednn::PostOps post_ops = chain.post_ops;
  const onednn::Type type = type_of(linear.weight.scalar_type());
  // Our own kernels are of floats.
  const auto activation = type == onednn::Type::kFloat
                              ? take_activation(post_ops, /*is_winograd=*/false)
                              : std::nullopt;
  std::optional<Layout> bias;
  if (linear.bias.defined()) bias = contiguous_layout({columns}, type);
  // oneDNN takes no transposed source.
  const bool is_row_major = rewriter.tensor(linear.source).strides[1] == 1;
  const Layout source =
      is_row_major ? rewriter.plain_layout(linear.source) : contiguous_layout({rows, k}, type);
  const auto make = [&](const Layout& weights) {
    return onednn::make_inner_product(source, weights, bias,
                                      contiguous_layout({rows, columns}, type), post_ops);
  };
  onednn::PrimitivePtr made;
  if (type == onednn::Type::kFloat && keeps_weights(rows, k * columns)) {
    made = make(contiguous_layout({columns, k}));
  }
  if (made == nullptr) made = make(Layout::any({columns, k}, type));
  const onednn::PrimitivePtr primitive =
      guarded(made, chain, {.parameters = {linear.weight, linear.bias}});
  if (primitive == nullptr) return 0;
  std::vector<TensorId> inputs = {rewriter.use(linear.source, source),
                                  packed_weight(rewriter, linear.weight.t(), primitive->inputs[1])};
  if (bias) inputs.push_back(rewriter.add_constant(linear.bias.contiguous()));
  std::optional<TensorId> written;
  if (chain.addend) written = rewriter.plain(*chain.addend);
  rewriter.emit(primitive, std::move(inputs), chain.output, chain.calls.back(), written);
  if (activation) emit_activation(rewriter, *activation, chain.output, chain.calls.back());
  return chain.calls.size();
}

std::optional<Replacement> replace(TraceRewriter& rewriter, size_t index,
                                   std::optional<TensorId> source, std::optional<TensorId> weight,
                                   const at::Tensor& bias) {
  const TraceCall& call = rewriter.call(index);
  if (!source || call.outputs.empty()) return std::nullopt;
  const at::ScalarType dtype = rewriter.tensor(*source).dtype;
  const at::Tensor constant = rewriter.known(weight, dtype);
  if ((dtype != at::kFloat && !(dtype == at::kBFloat16 && onednn::multiplies_bfloat16())) ||
      !rewriter.is_value(*source, dtype) || !constant.defined() ||
      !rewriter.is_value(call.outputs[0], dtype) || !rewriter.is_contiguous(call.outputs[0]) ||
      rewriter.tensor(call.outputs[0]).offset != 0 ||
      rewriter.tensor(*source).sizes[0] * constant.numel() < kMinMultiplications) {
    return std::nullopt;
  }
  const TracedLinear linear{*source, constant, bias,
                            chain_after(rewriter, index, call.outputs[0], ChainShape::kContiguous,
                                        /*takes_norm=*/false)};
  return Replacement{linear.chain.calls, [&rewriter, linear] { return emit(rewriter, linear); }};
}

}  // namespace

std::optional<Replacement> replace_addmm(TraceRewriter& rewriter, size_t index) {
  if (auto step = replace_gru_step(rewriter, index)) return step;
  const CallArguments arguments(rewriter.call(index));
  const auto self = arguments.tensor("self");
  const auto weight = arguments.tensor("mat2");
  if (!self || !weight || arguments.number("alpha", 1) != 1 || arguments.number("beta", 1) != 1) {
    return std::nullopt;
  }
  const at::Tensor bias = rewriter.known(*self, rewriter.tensor(*weight).dtype);
  const bool is_row =
      bias.defined() && bias.dim() == 1 && bias.size(0) == rewriter.tensor(*weight).sizes[1];
  if (!is_row) return std::nullopt;
  return replace(rewriter, index, arguments.tensor("mat1"), weight, bias);
}

std::optional<Replacement> replace_mm(TraceRewriter& rewriter, size_t index) {
  const CallArguments arguments(rewriter.call(index));
  return replace(rewriter, index, arguments.tensor("self"), arguments.tensor("mat2"), {});
}

}  // namespace torch_ir
