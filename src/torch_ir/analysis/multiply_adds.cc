#include "torch_ir/analysis/multiply_adds.h"

#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <exception>
#include <map>
#include <vector>

#include "torch_ir/ir/builtin_operators.h"

namespace torch_ir {

Count operator*(const Count& a, const Count& b) {
  int64_t product = 0;
  if (a.value_ == 0 || b.value_ == 0) return 0;
  if (!a.value_ || !b.value_) return Count::unknown();
  return __builtin_mul_overflow(*a.value_, *b.value_, &product) ? Count::unknown() : Count(product);
}

Count operator+(const Count& a, const Count& b) {
  int64_t sum = 0;
  if (!a.value_ || !b.value_) return Count::unknown();
  return __builtin_add_overflow(*a.value_, *b.value_, &sum) ? Count::unknown() : Count(sum);
}

Count operator/(const Count& a, const Count& b) {
  if (a.value_ == 0) return 0;
  return a.value_ && b.value_ && *b.value_ != 0 ? Count(*a.value_ / *b.value_) : Count::unknown();
}

namespace {

Count size_of(int64_t size) { return size == kDynamicSize ? Count::unknown() : Count(size); }

}  // namespace

Count count_elements(const TensorMeta& meta) {
  Count elements = 1;
  for (const int64_t size : meta.shape) elements = elements * size_of(size);
  return elements;
}

namespace {

// Thrown for missing arguments; the count is then unknown.
struct Missing : std::exception {};

const TensorMeta& tensor(const NodeCall& call, std::string_view argument) {
  const auto* bound = call.find<TensorArgument>(argument);
  if (bound == nullptr) throw Missing();
  return call.node().inputs.at(bound->input);
}

// Leaves out None.
std::vector<const TensorMeta*> tensors(const NodeCall& call, std::string_view argument) {
  std::vector<const TensorMeta*> metas;
  const auto* bound = call.find<TensorListArgument>(argument);
  if (bound == nullptr) return metas;
  for (const auto& input : bound->inputs) {
    if (input) metas.push_back(&call.node().inputs.at(*input));
  }
  return metas;
}

const Attribute& attribute(const NodeCall& call, std::string_view argument) {
  const auto* bound = call.find<AttributeArgument>(argument);
  if (bound == nullptr || bound->value == nullptr) throw Missing();
  return *bound->value;
}

Count elements(const NodeCall& call, std::string_view argument) {
  return count_elements(tensor(call, argument));
}

// A size of an argument; a negative `dim` counts from the end.
Count size(const NodeCall& call, std::string_view argument, int64_t dim) {
  const std::vector<int64_t>& shape = tensor(call, argument).shape;
  const int64_t place = dim < 0 ? dim + static_cast<int64_t>(shape.size()) : dim;
  if (place < 0 || place >= static_cast<int64_t>(shape.size())) throw Missing();
  return size_of(shape[static_cast<size_t>(place)]);
}

Count output_elements(const NodeCall& call) {
  if (call.node().outputs.empty()) throw Missing();
  return count_elements(call.node().outputs[0]);
}

// Matrix products: one for each element of the first and each column of the second.

template <size_t N>
struct Name {
  char text[N];
  constexpr Name(const char (&name)[N]) { std::copy_n(name, N, text); }
};

template <Name kFirst, Name kSecond>
Count product(const NodeCall& call) {
  const bool is_vector = tensor(call, kSecond.text).shape.size() == 1;
  return elements(call, kFirst.text) * (is_vector ? Count(1) : size(call, kSecond.text, -1));
}

// Batches may be broadcast, so the result counts.
Count matmul(const NodeCall& call) { return output_elements(call) * size(call, "self", -1); }

Count linear(const NodeCall& call) {
  const bool is_vector = tensor(call, "weight").shape.size() == 1;
  return elements(call, "input") * (is_vector ? Count(1) : size(call, "weight", 0));
}

std::vector<int64_t> integers(const NodeCall& call, std::string_view argument) {
  std::vector<int64_t> values;
  const auto* list = attribute(call, argument).get_if<Attribute::List>();
  if (list == nullptr) throw Missing();
  for (const Attribute& item : *list) {
    const auto* value = item.get_if<int64_t>();
    if (value == nullptr) throw Missing();
    values.push_back(*value);
  }
  return values;
}

Count tensordot(const NodeCall& call) {
  Count count = output_elements(call);
  for (const int64_t dim : integers(call, "dims_self")) count = count * size(call, "self", dim);
  return count;
}

// einsum of two operands: each summed or shared index counts once.

// One label per dimension; those of an ellipsis are numbered from the end, as they are broadcast.
std::string labels_of(std::string_view term, size_t num_dims) {
  std::string labels(term);
  const size_t dots = labels.find("...");
  if (dots != labels.npos) {
    std::string batch;
    for (size_t i = num_dims + 3; i-- > labels.size();)
      batch += static_cast<char>(1 + i - labels.size());
    labels.replace(dots, 3, batch);
  }
  if (labels.size() != num_dims) throw Missing();
  return labels;
}

// Without "->", the result has all labels that occur once, and the ellipsis.
bool is_in_result(char label, const std::string& equation) {
  const size_t arrow = equation.find("->");
  if (label < ' ') return arrow == equation.npos || equation.find("...", arrow) != equation.npos;
  if (arrow == equation.npos) return std::ranges::count(equation, label) == 1;
  return equation.find(label, arrow) != equation.npos;
}

Count einsum(const NodeCall& call) {
  const auto* given = attribute(call, "equation").get_if<std::string>();
  const std::vector<const TensorMeta*> operands = tensors(call, "tensors");
  if (given == nullptr) throw Missing();
  if (operands.size() < 2) return 0;
  // The order of multiplication is open for more operands.
  if (operands.size() > 2) return Count::unknown();
  std::string equation = *given;
  std::erase(equation, ' ');
  const std::string terms = equation.substr(0, equation.find("->"));
  const size_t comma = terms.find(',');
  if (comma == terms.npos) throw Missing();
  const std::string labels[] = {labels_of(terms.substr(0, comma), operands[0]->shape.size()),
                                labels_of(terms.substr(comma + 1), operands[1]->shape.size())};
  std::map<char, int64_t> sizes;
  for (size_t k = 0; k < 2; ++k) {
    for (size_t i = 0; i < labels[k].size(); ++i) {
      int64_t& size = sizes.try_emplace(labels[k][i], 1).first->second;
      if (size == 1) size = operands[k]->shape[i];
    }
  }
  // An index of only one operand that is not in the result is summed first.
  Count count = 1;
  bool adds_up = false;
  for (const auto& [name, size] : sizes) {
    const bool is_shared =
        labels[0].find(name) != labels[0].npos && labels[1].find(name) != labels[1].npos;
    const bool is_kept = is_in_result(name, equation);
    if (is_shared || is_kept) count = count * size_of(size);
    adds_up |= is_shared && !is_kept;
  }
  return adds_up ? count : 0;
}

// Convolutions: weights are [out, in / groups, kernel...], transposed [in, out / groups, ...].

Count of_each_channel(const NodeCall& call) {
  return elements(call, "weight") / size(call, "weight", 0);
}

Count convolution(const NodeCall& call) {
  const auto* transposed = call.find<AttributeArgument>("transposed");
  const bool is_transposed = transposed != nullptr && *transposed->value == Attribute(true);
  return (is_transposed ? elements(call, "input") : output_elements(call)) * of_each_channel(call);
}

Count transposed_convolution(const NodeCall& call) {
  return elements(call, "input") * of_each_channel(call);
}

// Weights are [kernel, in, out].
Count conv_tbc(const NodeCall& call) {
  return output_elements(call) * elements(call, "weight") / size(call, "weight", -1);
}

// Attention over [..., length, width]: the scores, and the values that they weigh.

Count attention(const NodeCall& call) {
  const Count rows = elements(call, "query") / size(call, "query", -1);
  return rows * size(call, "key", -2) * (size(call, "query", -1) + size(call, "value", -1));
}

// Queries, keys and values from one input of [batch, length, width], and the output projection.
Count self_attention(const NodeCall& call, std::string_view input) {
  const Count width = size(call, input, -1);
  const Count projections = elements(call, input) * width * 4;
  return projections + elements(call, input) * size(call, input, -2) * 2;
}

Count multi_head_attention(const NodeCall& call) {
  const TensorMeta& query = tensor(call, "query");
  const bool is_self =
      tensor(call, "key").name == query.name && tensor(call, "value").name == query.name;
  return is_self ? self_attention(call, "query") : Count::unknown();
}

Count transformer_layer(const NodeCall& call) {
  return self_attention(call, "src") + elements(call, "src") * size(call, "ffn_weight_1", 0) * 2;
}

// Recurrent layers: every matrix counts once per step of each sequence.

Count of_matrices(const std::vector<const TensorMeta*>& weights) {
  Count count = 0;
  for (const TensorMeta* weight : weights) {
    if (weight->shape.size() == 2) count = count + count_elements(*weight);
  }
  return count;
}

Count of_steps(const NodeCall& call, std::string_view input,
               const std::vector<const TensorMeta*>& weights) {
  return elements(call, input) / size(call, input, -1) * of_matrices(weights);
}

// The input may be packed.
Count recurrent_layer(const NodeCall& call) {
  const bool is_packed = call.find<TensorArgument>("input") == nullptr;
  return of_steps(call, is_packed ? "data" : "input", tensors(call, "params"));
}

template <Name kInput, Name kHidden>
Count recurrent_cell(const NodeCall& call) {
  return of_steps(call, "input", {&tensor(call, kInput.text), &tensor(call, kHidden.text)});
}

struct FormulaRow {
  // Matches all overloads; a final '*' matches any suffix.
  std::string_view name;
  MultiplyAdds formula;
};

// After torch/utils/flop_counter.py if it has the operator (mm_flop, addmm_flop, bmm_flop,
// baddbmm_flop, conv_flop_count, sdpa_flop_count, which count two operations each); otherwise from
// the documentation of torch.nn.
constexpr FormulaRow kFormulas[] = {
    {"_conv_depthwise2d", convolution},
    {"_convolution", convolution},
    {"_convolution_mode", convolution},
    {"_int_mm", product<"self", "mat2">},
    {"_native_multi_head_attention", multi_head_attention},
    {"_scaled_dot_product_attention_math", attention},
    {"_scaled_dot_product_attention_math_for_mps", attention},
    {"_scaled_dot_product_cudnn_attention", attention},
    {"_scaled_dot_product_efficient_attention", attention},
    {"_scaled_dot_product_flash_attention", attention},
    {"_scaled_dot_product_flash_attention_for_cpu", attention},
    {"_scaled_dot_product_fused_attention_overrideable", attention},
    {"_scaled_mm", product<"self", "mat2">},
    {"_transformer_encoder_layer_fwd", transformer_layer},
    {"addbmm", product<"batch1", "batch2">},
    {"addmm", product<"mat1", "mat2">},
    {"_addmm_activation", product<"mat1", "mat2">},
    {"addmv", product<"mat", "vec">},
    {"baddbmm", product<"batch1", "batch2">},
    {"bmm", product<"self", "mat2">},
    {"conv1d", convolution},
    {"conv2d", convolution},
    {"conv3d", convolution},
    {"conv_depthwise3d", convolution},
    {"conv_tbc", conv_tbc},
    {"conv_transpose*", transposed_convolution},
    {"convolution", convolution},
    {"dot", product<"self", "tensor">},
    {"einsum", einsum},
    {"gru", recurrent_layer},
    {"gru_cell", recurrent_cell<"w_ih", "w_hh">},
    {"inner", matmul},
    {"linear", linear},
    {"lstm", recurrent_layer},
    {"lstm_cell", recurrent_cell<"w_ih", "w_hh">},
    {"matmul", matmul},
    {"mkldnn_rnn_layer", recurrent_cell<"weight0", "weight1">},
    {"mm", product<"self", "mat2">},
    {"mv", product<"self", "vec">},
    {"rnn_relu", recurrent_layer},
    {"rnn_relu_cell", recurrent_cell<"w_ih", "w_hh">},
    {"rnn_tanh", recurrent_layer},
    {"rnn_tanh_cell", recurrent_cell<"w_ih", "w_hh">},
    {"scaled_dot_product_attention", attention},
    {"tensordot", tensordot},
    {"vdot", product<"self", "other">},
};

// clang-format off
// Operators without multiply-adds for which neither a tag of LibTorch nor the schema says so.
// A final '*' matches any suffix.
constexpr std::string_view kNone[] = {
    // Normalizations and softmax.
    "_fused_rms_norm*", "_log_softmax", "_native_batch_norm*", "_safe_softmax", "_softmax",
    "batch_norm", "cosine_similarity", "group_norm", "instance_norm", "layer_norm",
    "linalg__powsum", "linalg_norm", "linalg_vector_norm", "local_response_norm", "log_softmax", "native_batch_norm",
    "native_group_norm", "native_layer_norm", "norm", "normalize", "pairwise_distance", "renorm",
    "prepare_softmax_online", "rms_norm", "softmax",
    // Reductions, scans, sorting, searching.
    "_unique*", "all", "amax", "amin", "aminmax", "any", "argmax", "argmin", "argsort", "bincount",
    "bucketize", "count_nonzero", "cummax", "cummin", "cumprod", "cumsum", "diff", "histc",
    "kthvalue", "logcumsumexp", "logsumexp", "max", "mean", "median", "min", "mode", "msort",
    "nanmean", "nanmedian", "nansum", "nonzero*", "prod", "searchsorted", "sort", "std*", "sum*",
    "topk", "trace", "unique*", "var*",
    // Windows and images.
    "_adaptive_avg_pool*", "_upsample*", "adaptive_*", "affine_grid_generator", "avg_pool*",
    "channel_shuffle", "col2im", "fractional_max_pool*", "grid_sampler*", "im2col", "max_pool*",
    "max_unpool*", "native_channel_shuffle", "pixel_shuffle", "pixel_unshuffle", "unfold",
    "upsample_*",
    // Moving and choosing elements.
    "_cat", "_embedding_bag*", "_index_put_impl", "_to_copy", "_unsafe_index*",
    "_unsafe_masked_index*", "_unsafe_view", "block_diag", "cartesian_prod", "cat", "clone",
    "collapse", "column_stack", "concat*", "constant_pad_nd", "contiguous", "copy", "copy_*", "detach_copy", "device_put", "diag*",
    "dstack", "embedding", "embedding_bag", "embedding_renorm", "expand_copy", "fill", "flip",
    "fliplr", "flipud", "gather", "hstack", "index*", "lift*", "masked_*", "meshgrid", "one_hot",
    "pad", "pad_sequence", "permute_copy", "put", "reflection_pad*", "repeat*", "replication_pad*",
    "reshape", "resize*", "rev", "roll", "rot90", "scatter*", "select_*", "slice_*", "split_*", "stack", "take*",
    "tensor_split", "tile", "to", "tril*", "triu*", "type_as", "unbind_copy", "unsafe_chunk",
    "unsafe_split*", "view_copy", "vstack", "where", "zero",
    // New tensors.
    "arange", "bartlett_window", "blackman_window", "empty*", "eye", "full*", "hamming_window",
    "hann_window", "iota", "linspace", "logspace", "new_*", "ones*", "range", "scalar_tensor", "tensor",
    "zeros*",
    // Random numbers.
    "alpha_dropout", "bernoulli*", "cauchy", "dropout", "exponential", "feature_dropout",
    "geometric", "log_normal", "multinomial", "native_dropout", "normal*", "poisson", "rand*",
    "random", "uniform",
    // Elementwise or pairwise, but not tagged by LibTorch.
    "__*", "_cast_*", "_conj_physical", "_fused_dropout", "_masked_s*", "_prelu_kernel",
    "_thnn_fused_*", "_weight_norm*", "absolute", "add", "addr", "arc*", "binary_cross_entropy*",
    "bitwise_*", "celu", "clip", "complex", "copysign", "cosine_embedding_loss", "cross",
    "cross_entropy_loss", "div*", "elu", "eq", "fix", "floor_divide", "gcd", "ge", "gelu", "ger",
    "glu", "greater*", "gt", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "heaviside",
    "huber_loss", "isclose", "isin", "isinf", "isnan", "isreal", "kl_div", "kron", "l1_loss", "lcm",
    "le", "leaky_relu", "less*", "linalg_cross", "log_sigmoid*", "lt", "mish", "mse_loss", "mul",
    "multiply", "ne", "negative", "nll_loss*", "not_equal", "outer", "polar", "prelu", "relu*",
    "remainder", "rrelu*", "rsub", "smooth_l1_loss", "softplus", "softshrink", "sub", "subtract",
    "threshold", "true_divide", "vander", "xlogy",
    // Questions and checks.
    "_assert*", "_local_scalar_dense", "_make_token", "_sink_tokens", "_shape_as_tensor", "allclose", "equal", "is_*", "item",
    "numel", "size", "stride", "sym_*",
};

// clang-format on

bool matches(std::string_view row, std::string_view name) {
  if (!row.ends_with('*')) return row == name;
  row.remove_suffix(1);
  return name.starts_with(row);
}

bool is_view(const c10::FunctionSchema& schema) {
  const auto is_aliased = [](const c10::Argument& result) {
    return result.alias_info() != nullptr && !result.alias_info()->isWrite();
  };
  return !schema.returns().empty() && std::ranges::all_of(schema.returns(), is_aliased);
}

// The formula of an operator of ATen or `prims`.
MultiplyAdds formula_of_names(std::string_view name) {
  // In-place variants have the same formula.
  if (name.ends_with('_') && !name.starts_with("__")) name.remove_suffix(1);
  const auto row = std::ranges::find_if(
      kFormulas, [&](const FormulaRow& known) { return matches(known.name, name); });
  if (row != std::end(kFormulas)) return row->formula;
  const bool is_none =
      std::ranges::any_of(kNone, [&](std::string_view known) { return matches(known, name); });
  return is_none ? no_multiply_adds : nullptr;
}

}  // namespace

Count no_multiply_adds(const NodeCall& /*call*/) { return 0; }

MultiplyAdds find_formula(std::string_view op_type) {
  // Control flow counts by its graphs; other built-in operators compute with numbers.
  if (num_graphs_of(op_type) > 0) return nullptr;
  if (find_builtin_schema(op_type) != nullptr) return no_multiply_adds;
  const auto op = find_operator(op_type);
  if (!op) return nullptr;
  const std::string_view name = op->operator_name().name;
  for (const std::string_view space : {"aten::", "prims::"}) {
    if (!name.starts_with(space)) continue;
    if (const MultiplyAdds formula = formula_of_names(name.substr(space.size()))) return formula;
  }
  // Quantisation multiplies element by element.
  constexpr std::string_view kQuantization[] = {"quantize_", "dequantize_", "choose_qparams_",
                                                "fake_quant_"};
  const std::string_view own_name = name.substr(name.find("::") + 2);
  const bool is_none =
      std::ranges::any_of(kQuantization, [&](auto known) { return own_name.starts_with(known); }) ||
      op->hasTag(at::Tag::pointwise) || is_view(op->schema());
  return is_none ? no_multiply_adds : nullptr;
}

}  // namespace torch_ir
