#include "torch_ir/fast/rules.h"

namespace torch_ir {

TensorId packed_weight(TraceRewriter& rewriter, const at::Tensor& weight, const Layout& wanted) {
  const Layout layout =
      Layout::strided(wanted.sizes(), weight.strides().vec(), type_of(weight.scalar_type()));
  return rewriter.packed(layout.key() + wanted.key(), {weight},
                         [&] { return reorder_constant(weight, layout, wanted); });
}

namespace {

// Measured: with fewer multiplications oneDNN's fixed cost per call exceeds its gain.
constexpr int64_t kMinMultiplications = 8192;

size_t emit(TraceRewriter& rewriter, TensorId source, const at::Tensor& weight,
            const at::Tensor& bias, Chain chain) {
  if (chain.addend && !may_sum(rewriter, chain, source)) chain = Chain(*chain.before_addition);
  const int64_t rows = rewriter.tensor(source).sizes[0];
  const int64_t k = weight.size(0);
  const int64_t columns = weight.size(1);
  PostOps post_ops = chain.post_ops;
  const Type type = type_of(weight.scalar_type());
  // Our own kernels are of floats.
  const auto activation =
      type == Type::kFloat ? take_activation(post_ops, /*is_winograd=*/false) : std::nullopt;
  // oneDNN takes no transposed source.
  const bool is_row_major = rewriter.tensor(source).strides[1] == 1;
  const Layout layout =
      is_row_major ? rewriter.plain_layout(source) : contiguous_layout({rows, k}, type);
  const auto make = [&](const Layout& weights) {
    return onednn::make_inner_product(layout, weights, bias.defined(), type, post_ops);
  };
  PrimitivePtr made;
  if (type == Type::kFloat && keeps_weights(rows, k * columns)) {
    made = make(contiguous_layout({columns, k}));
  }
  if (made == nullptr) made = make(Layout::any({columns, k}, type));
  const PrimitivePtr primitive = guarded(made, chain, {.parameters = {weight, bias}});
  if (primitive == nullptr) return 0;
  std::vector<TensorId> inputs = {rewriter.use(source, layout),
                                  packed_weight(rewriter, weight.t(), primitive->inputs[1])};
  if (bias.defined()) inputs.push_back(rewriter.add_constant(bias.contiguous()));
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
  const Chain chain = chain_after(rewriter, index, {.is_contiguous = true});
  return Replacement{chain.calls,
                     [=, &rewriter] { return emit(rewriter, *source, constant, bias, chain); }};
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
