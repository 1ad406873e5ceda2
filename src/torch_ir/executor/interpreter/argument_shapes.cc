#include "torch_ir/executor/interpreter/argument_shapes.h"

#include <c10/util/Exception.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace torch_ir {
namespace {

using torch::jit::Stack;

void check_shape(const char* name, size_t index, const at::Tensor& tensor,
                 at::IntArrayRef expected) {
  TORCH_CHECK(tensor.defined() && tensor.sizes() == expected, name, " ", index, " has shape ",
              tensor.defined() ? tensor.sizes() : at::IntArrayRef(), ", but should have ",
              expected);
}

// Those of one layer in one direction, of as many gates as the cell has: input and hidden weights,
// their biases, what projects the output.
struct LayerShapes {
  int64_t gates;
  int64_t input;
  int64_t hidden;
  // As `hidden` where nothing is projected.
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

// lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
void check_lstm(const Stack& stack) {
  const at::Tensor input = stack[0].toTensor();
  const std::vector<at::Tensor> states = stack[1].toTensorVector();
  const std::vector<at::Tensor> parameters = stack[2].toTensorVector();
  const bool has_biases = stack[3].toBool();
  const int64_t num_layers = stack[4].toInt();
  const int64_t directions = stack[7].toBool() ? 2 : 1;
  const int64_t batch_dim = stack[8].toBool() ? 0 : 1;
  TORCH_CHECK(input.dim() == 3, "the input has ", input.dim(), " dimensions, but should have 3");
  TORCH_CHECK(states.size() == 2 && states[0].dim() == 3 && states[1].dim() == 3,
              "hx should be two tensors of 3 dimensions");
  LayerShapes layer{kLstmGates, input.size(2), states[1].size(2), states[0].size(2)};
  const auto per_layer = layer.parameters(has_biases).size() * static_cast<size_t>(directions);
  TORCH_CHECK(num_layers > 0 && parameters.size() % per_layer == 0 &&
                  parameters.size() / per_layer == static_cast<size_t>(num_layers),
              "there are ", parameters.size(), " params, not ", per_layer, " for each of ",
              num_layers, " layer(s)");
  const int64_t batch = input.size(batch_dim);
  check_shape("hx", 0, states[0], {num_layers * directions, batch, layer.output});
  check_shape("hx", 1, states[1], {num_layers * directions, batch, layer.hidden});
  for (size_t next = 0; next < parameters.size();) {
    for (int64_t direction = 0; direction < directions; ++direction) {
      for (const std::vector<int64_t>& shape : layer.parameters(has_biases)) {
        check_shape("params", next, parameters[next], shape);
        ++next;
      }
    }
    layer.input = layer.output * directions;
  }
}

// mkldnn_rnn_layer(input, weight0, weight1, weight2, weight3, hx_, cx_, reverse, batch_sizes, mode,
// hidden_size, num_layers, has_biases, bidirectional, batch_first, train)
void check_mkldnn_rnn_layer(const Stack& stack) {
  // By mode: RNN with relu and with tanh, LSTM, GRU.
  constexpr std::array<int64_t, 4> kGates = {1, 1, kLstmGates, 3};
  const at::Tensor input = stack[0].toTensor();
  const int64_t mode = stack[9].toInt();
  const int64_t hidden = stack[10].toInt();
  TORCH_CHECK(input.dim() == 3, "the input has ", input.dim(), " dimensions, but should have 3");
  TORCH_CHECK(mode >= 0 && mode < static_cast<int64_t>(kGates.size()), "there is no mode ", mode);
  TORCH_CHECK(hidden > 0 && hidden < INT32_MAX, "hidden_size is ", hidden);
  const LayerShapes layer{kGates[static_cast<size_t>(mode)], input.size(2), hidden, hidden};
  size_t next = 0;
  for (const std::vector<int64_t>& shape : layer.parameters(stack[12].toBool())) {
    check_shape("weight", next, stack[next + 1].toTensor(), shape);
    ++next;
  }
  const int64_t num_states = input.size(1) * hidden;
  for (const size_t state : {5, 6}) {
    const at::Tensor tensor = stack[state].toTensor();
    TORCH_CHECK(tensor.defined() && tensor.numel() == num_states, state == 5 ? "hx_" : "cx_",
                " should have ", num_states, " elements");
  }
}

// What stands for each channel of the input, the arguments from 1 to `last`, where it is there.
template <size_t last>
void check_channels(const Stack& stack) {
  const at::Tensor input = stack[0].toTensor();
  TORCH_CHECK(input.dim() >= 2, "the input has ", input.dim(), " dimension(s), but should have 2");
  for (size_t i = 1; i <= last; ++i) {
    if (stack[i].isNone() || !stack[i].toTensor().defined()) continue;
    check_shape("argument", i, stack[i].toTensor(), {input.size(1)});
  }
}

// _reshape_alias(self, size, stride)
void check_alias(const Stack& stack) {
  const at::Tensor self = stack[0].toTensor();
  const std::vector<int64_t> sizes = stack[1].toIntVector();
  const std::vector<int64_t> strides = stack[2].toIntVector();
  TORCH_CHECK(sizes.size() == strides.size(), "there are ", sizes.size(), " sizes and ",
              strides.size(), " strides");
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

// _fft_c2r(self, dim, ...), and its kind
void check_fft(const Stack& stack) {
  const int64_t rank = stack[0].toTensor().dim();
  for (const int64_t dim : stack[1].toIntVector()) {
    TORCH_CHECK(dim >= 0 && dim < rank, "there is no dimension ", dim, " of ", rank);
  }
}

struct ShapeCheck {
  std::string_view name;
  std::string_view overload;
  void (*check)(const Stack& stack);
};

// Of LibTorch 2.13, what hands its arguments on as memory.
constexpr ShapeCheck kShapeChecks[] = {
    {"aten::lstm", "input", &check_lstm},
    {"aten::mkldnn_rnn_layer", "", &check_mkldnn_rnn_layer},
    {"aten::native_batch_norm", "", &check_channels<4>},
    {"aten::_native_batch_norm_legit", "", &check_channels<4>},
    {"aten::_native_batch_norm_legit", "no_stats", &check_channels<2>},
    {"aten::_native_batch_norm_legit_no_training", "", &check_channels<4>},
    {"aten::_native_batch_norm_legit_functional", "", &check_channels<4>},
    {"aten::_batch_norm_with_update", "", &check_channels<4>},
    {"aten::_batch_norm_with_update_functional", "", &check_channels<4>},
    {"aten::_batch_norm_no_update", "", &check_channels<4>},
    {"aten::batch_norm_update_stats", "", &check_channels<2>},
    {"aten::batch_norm_elemt", "", &check_channels<4>},
    {"aten::_reshape_alias", "", &check_alias},
    {"aten::_reshape_alias_copy", "", &check_alias},
    {"aten::_fft_c2r", "", &check_fft},
    {"aten::_fft_r2c", "", &check_fft},
    {"aten::_fft_c2c", "", &check_fft},
};

}  // namespace

void check_argument_shapes(const c10::OperatorHandle& op, const Stack& stack) {
  const c10::OperatorName& name = op.operator_name();
  for (const ShapeCheck& it : kShapeChecks) {
    if (name.name == it.name && name.overload_name == it.overload) it.check(stack);
  }
}

}  // namespace torch_ir
