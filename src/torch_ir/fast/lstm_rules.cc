// The steps of one LSTM layer, in one direction.
//
// With few sequences a step is bound by reading the recurrent weights, so they are packed in
// reading order: LibTorch and oneDNN (2.6.3) take twice as long for 128 units, ten times for 32.
// With many, LibTorch multiplies state and weights at each step; its own layer takes three times as
// long for 16 sequences of 96 units.
#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>

#include <algorithm>
#include <cstdint>

#include "torch_ir/fast/rules.h"
#include "torch_ir/fast/vectors.h"
#include "torch_ir/runtime/kernels/clones.h"

namespace torch_ir {

struct LstmLayer {
  int64_t num_steps;
  int64_t num_sequences;
  // A multiple of 16.
  int64_t num_units;
  bool is_reverse;
  // [steps, sequences, 4 units], in the order input, forget, cell, output: the contribution of
  // inputs and biases. Overwritten.
  float* gates;
  // [units / 16, units, 4, 16]: the recurrent weights, for few sequences; null if `gates` have
  // their product, too.
  const float* weights;
  // [sequences, units]: the first state and cell, replaced by the last.
  float* state;
  float* cell;
  // [steps, sequences, units]
  float* outputs;
};

// `state` is that of the sequences before. Every other row goes backwards, to begin with the
// weights that are still in the L1 cache.
TORCH_IR_CLONES("arch=x86-64-v4", "arch=x86-64-v3", "default")
void run_lstm_step(const LstmLayer& layer, int64_t step, const float* state) {
  const int64_t num_units = layer.num_units;
  for (int64_t sequence = 0; sequence < layer.num_sequences; ++sequence, state += num_units) {
    const int64_t row = step * layer.num_sequences + sequence;
    const float* const gates = layer.gates + row * 4 * num_units;
    float* const cell = layer.cell + sequence * num_units;
    for (int64_t i = 0; i < num_units; i += kLanes) {
      const int64_t unit = row % 2 == 1 ? num_units - kLanes - i : i;
      Floats input = lanes(gates + unit);
      Floats forget = lanes(gates + num_units + unit);
      Floats candidate = lanes(gates + 2 * num_units + unit);
      Floats out = lanes(gates + 3 * num_units + unit);
      if (layer.weights != nullptr) {
        const float* weights = layer.weights + unit * 4 * num_units;
        for (int64_t k = 0; k < num_units; ++k, weights += 4 * kLanes) {
          input += state[k] * lanes(weights);
          forget += state[k] * lanes(weights + kLanes);
          candidate += state[k] * lanes(weights + 2 * kLanes);
          out += state[k] * lanes(weights + 3 * kLanes);
        }
      }
      apply_sigmoid(input);
      apply_sigmoid(forget);
      apply_tanh(candidate);
      apply_sigmoid(out);
      Floats next = forget * lanes(cell + unit) + input * candidate;
      lanes(cell + unit) = next;
      apply_tanh(next);
      lanes(layer.outputs + row * num_units + unit) = out * next;
    }
  }
}

namespace {

using onednn::Layout;

// Inputs: gates and weights, state and cell before. Outputs: those of all steps, state and cell
// after.
FusedCall lstm_layer(LstmLayer layer, bool has_panels) {
  return own_call("torch_ir::lstm_layer", [layer, has_panels](const CallTensors& inputs,
                                                              const CallTensors& outputs) mutable {
    layer.gates = static_cast<float*>(inputs[0].mutable_data_ptr());
    layer.weights = has_panels ? floats_of(inputs[1]) : nullptr;
    layer.outputs = outputs[0].mutable_data_ptr<float>();
    layer.state = outputs[1].mutable_data_ptr<float>();
    layer.cell = outputs[2].mutable_data_ptr<float>();
    const int64_t size = layer.num_sequences * layer.num_units;
    std::copy_n(floats_of(inputs[2]), size, layer.state);
    std::copy_n(floats_of(inputs[3]), size, layer.cell);
    const at::Tensor gates =
        inputs[0].view(at::kFloat).view({layer.num_steps, -1, layer.num_units * 4});
    const at::Tensor weights = inputs[1];
    at::Tensor state_before = outputs[1].view({-1, layer.num_units});
    const float* state = layer.state;
    for (int64_t i = 0; i < layer.num_steps; ++i) {
      const int64_t step = layer.is_reverse ? layer.num_steps - 1 - i : i;
      if (!has_panels) {
        at::Tensor sum = gates[step];
        at::addmm_out(sum, sum, state_before, weights.t());
        state_before = outputs[0].view({layer.num_steps, -1, layer.num_units})[step];
      }
      run_lstm_step(layer, step, state);
      state = layer.outputs + step * size;
    }
    std::copy_n(state, size, layer.state);
  });
}

size_t emit_lstm(TraceRewriter& rewriter, size_t index) {
  const CallArguments arguments(rewriter.call(index));
  const auto constant = [&](std::string_view name) {
    return rewriter.constant(*arguments.tensor(name));
  };
  const TensorId source = *arguments.tensor("input");
  const at::DimVector sizes = rewriter.tensor(source).sizes;
  LstmLayer layer{};
  layer.num_steps = sizes[0];
  layer.num_sequences = sizes[1];
  layer.num_units = arguments.value("hidden_size").toInt();
  layer.is_reverse = arguments.value("reverse").toBool();
  const int64_t num_gates = 4 * layer.num_units;
  std::optional<Layout> bias;
  // Without biases LibTorch passes other weights in their place.
  if (arguments.value("has_biases").toBool()) bias = contiguous_layout({num_gates});
  const int64_t rows = sizes[0] * sizes[1];
  const onednn::PrimitivePtr product = onednn::make_inner_product(
      contiguous_layout({rows, sizes[2]}), Layout::any({num_gates, sizes[2]}), bias,
      contiguous_layout({rows, num_gates}), {});
  if (product == nullptr) return 0;
  std::vector<TensorId> inputs = {rewriter.plain(source),
                                  packed_weight(rewriter, constant("weight0"), product->inputs[1])};
  if (bias) {
    const std::vector<at::Tensor> biases = {constant("weight2"), constant("weight3")};
    inputs.push_back(rewriter.packed("sum", biases, [&] { return biases[0] + biases[1]; }));
  }
  const TensorId gates = rewriter.make(product, inputs, index);
  const at::Tensor recurrent = constant("weight1");
  const bool has_panels = has_few_sequences(layer.num_sequences, layer.num_units);
  const TensorId weights =
      has_panels ? rewriter.packed("panels", {recurrent},
                                   [&] {
                                     return recurrent.view({4, -1, kLanes, layer.num_units})
                                         .permute({1, 3, 0, 2})
                                         .contiguous();
                                   })
                 : rewriter.add_constant(recurrent);
  rewriter.emit(lstm_layer(layer, has_panels),
                {gates, weights, rewriter.plain(*arguments.tensor("hx_")),
                 rewriter.plain(*arguments.tensor("cx_"))},
                rewriter.call(index).outputs, index);
  return 1;
}

// LibTorch calls it for each layer and direction; outside training it has no workspace to return.
std::optional<TraceRewriter::Replacement> replace_lstm(TraceRewriter& rewriter, size_t index) {
  constexpr int64_t kLstmMode = 2;
  const TraceCall& call = rewriter.call(index);
  const CallArguments arguments(call);
  const int64_t num_units = arguments.value("hidden_size").toInt();
  const auto source = arguments.tensor("input");
  const auto is_usable = [&](TensorId id) {
    return rewriter.is_value(id) && rewriter.is_contiguous(id);
  };
  const auto is_given = [&](std::string_view name) {
    const auto id = arguments.tensor(name);
    return id && is_usable(*id);
  };
  const auto is_constant = [&](std::string_view name) {
    return is_given(name) && rewriter.constant(*arguments.tensor(name)).defined();
  };
  const bool is_taken =
      arguments.value("mode").toInt() == kLstmMode && !arguments.value("train").toBool() &&
      is_given("input") && rewriter.tensor(*source).sizes.size() == 3 && num_units % kLanes == 0 &&
      is_given("hx_") && is_given("cx_") && is_constant("weight0") && is_constant("weight1") &&
      is_constant("weight2") && is_constant("weight3") && call.outputs.size() == 3 &&
      std::ranges::all_of(call.outputs, is_usable);
  if (!is_taken) return std::nullopt;
  return TraceRewriter::Replacement{{index},
                                    [&rewriter, index] { return emit_lstm(rewriter, index); }};
}

constexpr RuleEntry kLstmRules[] = {{"aten::mkldnn_rnn_layer", &replace_lstm}};

}  // namespace

RuleTable lstm_rules() { return kLstmRules; }

}  // namespace torch_ir
