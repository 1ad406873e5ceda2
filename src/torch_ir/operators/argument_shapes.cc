#include "torch_ir/operators/argument_shapes.h"

#include <c10/util/Exception.h>
#include <c10/util/accumulate.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "torch_ir/operators/named_arguments.h"
#include "torch_ir/operators/operator_facts.h"

namespace torch_ir {
namespace {

void check_shape(const char* name, const at::Tensor& tensor, at::IntArrayRef expected,
                 std::optional<size_t> index = std::nullopt) {
  TORCH_CHECK(tensor.defined() && tensor.sizes() == expected, name,
              index ? fmt::format(" {}", *index) : "", " has shape ",
              tensor.defined() ? tensor.sizes() : at::IntArrayRef(), ", but should have ",
              expected);
}

// One layer in one direction: input and hidden weights, their biases, and the output's projection.
struct LayerShapes {
  int64_t gates;
  int64_t input;
  int64_t hidden;
  // Equals `hidden` without a projection.
  int64_t output;

  std::vector<std::vector<int64_t>> parameters(bool has_biases) const {
    const int64_t rows = gates * hidden;
    std::vector<std::vector<int64_t>> shapes = {{rows, input}, {rows, output}};
    if (has_biases) shapes.insert(shapes.end(), 2, {rows});
    if (output != hidden) shapes.push_back({output, hidden});
    return shapes;
  }
};

constexpr int64_t kLstmGates = 4;

void check_rank(const char* name, const at::Tensor& tensor, int64_t rank) {
  TORCH_CHECK(tensor.dim() == rank, name, " has ", tensor.dim(),
              tensor.dim() == 1 ? " dimension" : " dimensions", ", but should have ", rank);
}

// Sequences of different lengths; their weights are checked step by step.
void check_packed_lstm(const NamedArguments& arguments) {
  int64_t layers = 0;
  TORCH_CHECK(!__builtin_mul_overflow(arguments.number("num_layers"),
                                      arguments.flag("bidirectional") ? 2 : 1, &layers),
              "invalid num_layers ", arguments.number("num_layers"));
  for (const at::Tensor& state : arguments.tensors("hx")) {
    check_rank("hx", state, 3);
    TORCH_CHECK(state.size(0) == layers, "the number of layers of hx is ", state.size(0),
                ", but should be ", layers);
  }
}

void check_lstm(const NamedArguments& arguments) {
  if (arguments.has("batch_sizes")) return check_packed_lstm(arguments);
  const at::Tensor input = arguments.tensor("input");
  const std::vector<at::Tensor> states = arguments.tensors("hx");
  const std::vector<at::Tensor> parameters = arguments.tensors("params");
  const int64_t num_layers = arguments.number("num_layers");
  const int64_t directions = arguments.flag("bidirectional") ? 2 : 1;
  const int64_t batch_dim = arguments.flag("batch_first") ? 0 : 1;
  check_rank("input", input, 3);
  TORCH_CHECK(states.size() == 2 && states[0].dim() == 3 && states[1].dim() == 3,
              "hx should be two tensors of 3 dimensions");
  LayerShapes layer{kLstmGates, input.size(2), states[1].size(2), states[0].size(2)};
  const auto per_layer =
      layer.parameters(arguments.flag("has_biases")).size() * static_cast<size_t>(directions);
  TORCH_CHECK(num_layers > 0 && parameters.size() % per_layer == 0 &&
                  parameters.size() / per_layer == static_cast<size_t>(num_layers),
              "found ", parameters.size(), " params, expected ", per_layer,
              " per layer for num_layers ", num_layers);
  const int64_t batch = input.size(batch_dim);
  check_shape("hx", states[0], {num_layers * directions, batch, layer.output}, 0);
  check_shape("hx", states[1], {num_layers * directions, batch, layer.hidden}, 1);
  for (size_t next = 0; next < parameters.size();) {
    for (int64_t direction = 0; direction < directions; ++direction) {
      for (const std::vector<int64_t>& shape : layer.parameters(arguments.flag("has_biases"))) {
        check_shape("params", parameters[next], shape, next);
        ++next;
      }
    }
    layer.input = layer.output * directions;
  }
}

void check_mkldnn_rnn_layer(const NamedArguments& arguments) {
  // By mode: RNN with relu and with tanh, LSTM, GRU.
  constexpr std::array<int64_t, 4> kGates = {1, 1, kLstmGates, 3};
  const at::Tensor input = arguments.tensor("input");
  const int64_t mode = arguments.number("mode");
  const int64_t hidden = arguments.number("hidden_size");
  check_rank("input", input, 3);
  TORCH_CHECK(mode >= 0 && mode < static_cast<int64_t>(kGates.size()), "unknown mode ", mode);
  TORCH_CHECK(hidden > 0 && hidden < INT32_MAX, "invalid hidden_size ", hidden);
  const LayerShapes layer{kGates[static_cast<size_t>(mode)], input.size(2), hidden, hidden};
  constexpr std::array<const char*, 4> kWeights = {"weight0", "weight1", "weight2", "weight3"};
  size_t next = 0;
  for (const std::vector<int64_t>& shape : layer.parameters(arguments.flag("has_biases"))) {
    check_shape(kWeights.at(next), arguments.tensor(kWeights.at(next)), shape);
    ++next;
  }
  const int64_t num_states = input.size(1) * hidden;
  for (const char* state : {"hx_", "cx_"}) {
    TORCH_CHECK(arguments.tensor(state).numel() == num_states, state, " should have ", num_states,
                " elements");
  }
}

void check_shape_of(const NamedArguments& arguments, const char* name, at::IntArrayRef expected) {
  if (arguments.has(name)) check_shape(name, arguments.tensor(name), expected);
}

// Each of these has one element for each channel of the input.
void check_channels(const NamedArguments& arguments) {
  const at::Tensor input = arguments.tensor("input");
  TORCH_CHECK(input.dim() >= 2, "input has ", input.dim(),
              input.dim() == 1 ? " dimension" : " dimensions", ", but should have at least 2");
  for (const char* name : {"weight", "bias", "running_mean", "running_var", "mean", "invstd"}) {
    check_shape_of(arguments, name, {input.size(1)});
  }
}

// Outside training, the statistics that the forward saves are empty.
void check_batch_norm_gradient(const NamedArguments& arguments) {
  check_channels(arguments);
  const at::Tensor input = arguments.tensor("input");
  const bool is_training = arguments.flag(arguments.has("train") ? "train" : "update");
  check_shape("grad_out", arguments.tensor("grad_out"), input.sizes());
  for (const char* name : {"save_mean", "save_invstd", "save_var"}) {
    if (!is_training && arguments.has(name) && arguments.tensor(name).numel() == 0) continue;
    check_shape_of(arguments, name, {input.size(1)});
  }
}

void check_layer_norm_gradient(const NamedArguments& arguments) {
  const at::Tensor input = arguments.tensor("input");
  const std::vector<int64_t> normalized = arguments.numbers("normalized_shape");
  const at::IntArrayRef sizes = input.sizes();
  TORCH_CHECK(normalized.size() <= sizes.size() &&
                  sizes.slice(sizes.size() - normalized.size()) == at::IntArrayRef(normalized),
              "input has shape ", sizes, ", but should end with ", at::IntArrayRef(normalized));
  const int64_t rows = c10::multiply_integers(sizes.slice(0, sizes.size() - normalized.size()));
  check_shape("grad_out", arguments.tensor("grad_out"), sizes);
  for (const char* name : {"mean", "rstd"}) {
    TORCH_CHECK(arguments.tensor(name).numel() == rows, "the number of elements of ", name, " is ",
                arguments.tensor(name).numel(), ", but should be ", rows);
  }
  check_shape_of(arguments, "weight", normalized);
  check_shape_of(arguments, "bias", normalized);
}

// Gradients of operators that treat each plane of the last `dims` dimensions separately: poolings,
// paddings.
template <size_t dims>
void check_gradient_of_planes(const NamedArguments& arguments) {
  const at::Tensor grad_output = arguments.tensor("grad_output");
  const at::Tensor self = arguments.tensor("self");
  check_rank("grad_output", grad_output, self.dim());
  TORCH_CHECK(self.sizes().size() >= dims, "self should have at least ", dims, " dimensions");
  const size_t leading = self.sizes().size() - dims;
  TORCH_CHECK(self.sizes().slice(0, leading) == grad_output.sizes().slice(0, leading),
              "grad_output has shape ", grad_output.sizes(), ", but should begin with ",
              self.sizes().slice(0, leading));
  TORCH_CHECK(self.numel() > 0 || grad_output.numel() == 0, "grad_output has shape ",
              grad_output.sizes(), ", but self is empty");
  check_shape_of(arguments, "indices", grad_output.sizes());
}

void check_softmax_gradient(const NamedArguments& arguments) {
  check_shape("grad_output", arguments.tensor("grad_output"), arguments.tensor("output").sizes());
}

void check_pivots(const NamedArguments& arguments) {
  const at::IntArrayRef matrix = arguments.tensor("LU_data").sizes();
  TORCH_CHECK(matrix.size() >= 2, "LU_data should have at least 2 dimensions");
  std::vector<int64_t> expected = matrix.slice(0, matrix.size() - 2).vec();
  expected.push_back(std::min(matrix[matrix.size() - 2], matrix.back()));
  check_shape("LU_pivots", arguments.tensor("LU_pivots"), expected);
}

void check_alias(const NamedArguments& arguments) {
  const at::Tensor self = arguments.tensor("self");
  const std::vector<int64_t> sizes = arguments.numbers("size");
  const std::vector<int64_t> strides = arguments.numbers("stride");
  TORCH_CHECK(sizes.size() == strides.size(), "found ", sizes.size(), " sizes and ", strides.size(),
              " strides");
  int64_t end = 1;
  bool fits = true;
  for (size_t i = 0; i < sizes.size() && fits; ++i) {
    int64_t step = 0;
    if (sizes[i] == 0) return;
    fits = sizes[i] > 0 && strides[i] >= 0 &&
           !__builtin_mul_overflow(sizes[i] - 1, strides[i], &step) &&
           !__builtin_add_overflow(end, step, &end);
  }
  const auto elements = static_cast<int64_t>(self.storage().nbytes() / self.itemsize());
  TORCH_CHECK(fits && end <= elements - self.storage_offset(), "sizes ", at::IntArrayRef(sizes),
              " with strides ", at::IntArrayRef(strides),
              " reach beyond the memory of the tensor, which has ", elements, " elements");
}

void check_fft(const NamedArguments& arguments) {
  const int64_t rank = arguments.tensor("self").dim();
  std::vector<bool> is_seen(static_cast<size_t>(rank));
  for (const int64_t dim : arguments.numbers("dim")) {
    TORCH_CHECK(dim >= 0 && dim < rank, "dimension ", dim, " is out of range for rank ", rank);
    TORCH_CHECK(!is_seen[static_cast<size_t>(dim)], "duplicate dimension ", dim);
    is_seen[static_cast<size_t>(dim)] = true;
  }
}

// A weight normed along its first or last dimension has as many norms as it has there.
void check_norms(const NamedArguments& arguments) {
  const at::Tensor v = arguments.tensor("v");
  const int64_t dim = arguments.number("dim");
  TORCH_CHECK(dim >= 0 && dim < v.dim(), "dimension ", dim, " is out of range for rank ", v.dim());
  TORCH_CHECK(v.numel() > 0, "v is empty");
  const int64_t norms = arguments.tensor("g").numel();
  TORCH_CHECK(norms == v.size(dim), "the number of elements of g is ", norms, ", but should be ",
              v.size(dim));
}

void check_weight_norm(const NamedArguments& arguments) {
  const int64_t dim = arguments.number("dim");
  // Other dimensions use operators with checks of their own.
  if (dim == 0 || dim == arguments.tensor("v").dim() - 1) check_norms(arguments);
}

// Heads of the query may share heads of the key.
void check_attention(const NamedArguments& arguments) {
  const at::Tensor query = arguments.tensor("query");
  const at::Tensor key = arguments.tensor("key");
  const at::Tensor value = arguments.tensor("value");
  check_rank("query", query, 4);
  check_rank("key", key, 4);
  const int64_t heads = key.size(1);
  TORCH_CHECK(heads > 0 && query.size(1) % heads == 0, "query has ", query.size(1),
              " heads, which is not a multiple of the ", heads, " of key");
  check_shape("key", key, {query.size(0), heads, key.size(2), query.size(3)});
  check_shape("value", value, key.sizes());
}

void check_heads(const NamedArguments& arguments) {
  const int64_t heads = arguments.number(arguments.has("num_head") ? "num_head" : "num_heads");
  TORCH_CHECK(heads > 0, "invalid number of heads ", heads);
  if (!arguments.has("qkv")) return;
  const at::Tensor qkv = arguments.tensor("qkv");
  check_rank("qkv", qkv, 3);
  TORCH_CHECK(qkv.size(2) > 0 && qkv.size(2) % 3 == 0 && qkv.size(2) / 3 % heads == 0, "qkv has ",
              qkv.size(2), " features, which is not a multiple of 3 x ", heads);
  check_shape("qkv_bias", arguments.tensor("qkv_bias"), {qkv.size(2)});
}

void check_kernel_size(const NamedArguments& arguments) {
  const at::IntArrayRef weight = arguments.tensor("weight").sizes();
  const std::vector<int64_t> kernel = arguments.numbers("kernel_size");
  TORCH_CHECK(weight.size() == kernel.size() + 2 && weight.slice(2) == at::IntArrayRef(kernel),
              "weight has shape ", weight, ", but should end with ", at::IntArrayRef(kernel));
}

void check_int4_scales(const NamedArguments& arguments) {
  const int64_t group = arguments.number("qGroupSize");
  const at::Tensor self = arguments.tensor("self");
  const at::Tensor mat2 = arguments.tensor("mat2");
  TORCH_CHECK(group > 0 && self.dim() == 2 && mat2.dim() == 2,
              "self and mat2 should be matrices in groups");
  check_shape("qScaleAndZeros", arguments.tensor("qScaleAndZeros"),
              {self.size(1) / group, mat2.size(0), 2});
}

using ShapeCheck = void (*)(const NamedArguments& arguments);

// Of LibTorch 2.13's operators that pass arguments on as raw memory.
constexpr NamedFunction<ShapeCheck> kShapeChecks[] = {
    {"alias", check_alias},
    {"attention", check_attention},
    {"batch_norm_gradient", check_batch_norm_gradient},
    {"channels", check_channels},
    {"fft", check_fft},
    {"gradient_of_planes_1", check_gradient_of_planes<1>},
    {"gradient_of_planes_2", check_gradient_of_planes<2>},
    {"gradient_of_planes_3", check_gradient_of_planes<3>},
    {"heads", check_heads},
    {"int4_scales", check_int4_scales},
    {"kernel_size", check_kernel_size},
    {"layer_norm_gradient", check_layer_norm_gradient},
    {"lstm", check_lstm},
    {"mkldnn_rnn_layer", check_mkldnn_rnn_layer},
    {"norms", check_norms},
    {"pivots", check_pivots},
    {"softmax_gradient", check_softmax_gradient},
    {"weight_norm", check_weight_norm},
};

}  // namespace

void check_argument_shapes(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const ShapeCheck check = find_function(kShapeChecks, facts_of(op).shape_check);
  if (check != nullptr) check({op.schema(), stack});
}

}  // namespace torch_ir
