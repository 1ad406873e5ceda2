// The steps of one LSTM layer, in one direction, and one step of a GRU, for which LibTorch makes
// eleven calls.
//
// With few sequences a step is bound by reading the recurrent weights, so they are packed in
// reading order: for an LSTM LibTorch and oneDNN (2.6.3) take twice as long for 128 units, ten
// times for 32. With many, a library first multiplies state and weights; LibTorch's own LSTM takes
// three times as long for 16 sequences of 96 units.
#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <numeric>

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

struct GruStep {
  int64_t num_sequences;
  // A multiple of 16.
  int64_t num_units;
  // [sequences, 3 units], in the order reset, update, new: the contribution of inputs and biases.
  const float* gates;
  int64_t gates_stride;
  // [sequences, units]
  const float* state;
  // [units / 16, units, 3, 16]: the recurrent weights, for few sequences; null if `sums` have their
  // product, too.
  const float* weights;
  // [3 units], the bias; without weights [sequences, 3 units].
  const float* sums;
  int64_t sums_stride;
  // [sequences, units]
  float* output;
};

TORCH_IR_CLONES("arch=x86-64-v4", "arch=x86-64-v3", "default")
void run_gru_step(const GruStep& step) {
  const int64_t num_units = step.num_units;
  for (int64_t sequence = 0; sequence < step.num_sequences; ++sequence) {
    const float* const gates = step.gates + sequence * step.gates_stride;
    const float* const state = step.state + sequence * num_units;
    const float* const sums = step.sums + sequence * step.sums_stride;
    const float* weights = step.weights;
    for (int64_t unit = 0; unit < num_units; unit += kLanes) {
      Floats reset = lanes(sums + unit);
      Floats update = lanes(sums + num_units + unit);
      Floats candidate = lanes(sums + 2 * num_units + unit);
      if (weights != nullptr) {
        // Each sum in two parts, so that one product need not wait for the one before.
        Floats odd_reset{};
        Floats odd_update{};
        Floats odd_candidate{};
        for (int64_t k = 0; k < num_units; k += 2, weights += 6 * kLanes) {
          reset += state[k] * lanes(weights);
          update += state[k] * lanes(weights + kLanes);
          candidate += state[k] * lanes(weights + 2 * kLanes);
          odd_reset += state[k + 1] * lanes(weights + 3 * kLanes);
          odd_update += state[k + 1] * lanes(weights + 4 * kLanes);
          odd_candidate += state[k + 1] * lanes(weights + 5 * kLanes);
        }
        reset += odd_reset;
        update += odd_update;
        candidate += odd_candidate;
      }
      reset += lanes(gates + unit);
      update += lanes(gates + num_units + unit);
      apply_sigmoid(reset);
      apply_sigmoid(update);
      candidate = lanes(gates + 2 * num_units + unit) + reset * candidate;
      apply_tanh(candidate);
      lanes(step.output + sequence * num_units + unit) =
          (lanes(state + unit) - candidate) * update + candidate;
    }
  }
}

namespace {

// Whether a kernel that reads the recurrent weights once for each sequence is fast. Measured: up to
// 512 units the weights stay in the L2 cache, and with more sequences and units the library's
// matrix product is faster.
bool has_few_sequences(int64_t num_sequences, int64_t num_units) {
  return num_units % kLanes == 0 && num_units <= 512 &&
         (num_sequences <= 2 || num_sequences * num_units <= 256);
}

// Inputs: gates and weights, state and cell before. Outputs: those of all steps, state and cell
// after.
FusedCall lstm_layer(LstmLayer layer, bool has_panels) {
  const auto run = [=](const CallTensors& inputs, const CallTensors& outputs) mutable {
    layer.gates = static_cast<float*>(inputs[0].mutable_data_ptr());
    layer.weights = has_panels ? floats_of(inputs[1]) : nullptr;
    layer.outputs = outputs[0].mutable_data_ptr<float>();
    layer.state = outputs[1].mutable_data_ptr<float>();
    layer.cell = outputs[2].mutable_data_ptr<float>();
    const int64_t size = layer.num_sequences * layer.num_units;
    std::copy_n(floats_of(inputs[2]), size, layer.state);
    std::copy_n(floats_of(inputs[3]), size, layer.cell);
    const auto rows_of = [&](const at::Tensor& steps, int64_t step) {
      return steps.view({layer.num_steps, layer.num_sequences, -1})[step];
    };
    const float* state = layer.state;
    for (int64_t i = 0; i < layer.num_steps; ++i) {
      const int64_t step = layer.is_reverse ? layer.num_steps - 1 - i : i;
      if (!has_panels) {
        const int64_t last = layer.is_reverse ? step + 1 : step - 1;
        const at::Tensor before =
            i == 0 ? outputs[1].view({layer.num_sequences, -1}) : rows_of(outputs[0], last);
        at::Tensor sum = rows_of(inputs[0].view(at::kFloat), step);
        at::addmm_out(sum, sum, before, inputs[1].t());
      }
      run_lstm_step(layer, step, state);
      state = layer.outputs + step * size;
    }
    std::copy_n(state, size, layer.state);
  };
  return own_call("torch_ir::lstm_layer", run);
}

// `given` are the weights of the input and the state, and their biases.
size_t emit_lstm(TraceRewriter& rewriter, size_t index, const std::vector<at::Tensor>& given) {
  const CallArguments arguments(rewriter.call(index));
  const TensorId source = *arguments.tensor("input");
  const at::DimVector sizes = rewriter.tensor(source).sizes;
  LstmLayer layer{};
  layer.num_steps = sizes[0];
  layer.num_sequences = sizes[1];
  layer.num_units = arguments.value("hidden_size").toInt();
  layer.is_reverse = arguments.value("reverse").toBool();
  const int64_t num_gates = 4 * layer.num_units;
  // Without biases LibTorch passes other weights in their place.
  const bool has_bias = arguments.value("has_biases").toBool();
  const PrimitivePtr product =
      onednn::make_inner_product(contiguous_layout({sizes[0] * sizes[1], sizes[2]}),
                                 Layout::any({num_gates, sizes[2]}), has_bias);
  if (product == nullptr) return 0;
  std::vector<TensorId> inputs = {rewriter.plain(source),
                                  packed_weight(rewriter, given[0], product->inputs[1])};
  if (has_bias) {
    const std::vector<at::Tensor> biases = {given[2], given[3]};
    inputs.push_back(rewriter.packed("sum", biases, [&] { return biases[0] + biases[1]; }));
  }
  const TensorId gates = rewriter.make(product, inputs, index);
  const at::Tensor& recurrent = given[1];
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

struct GruCall {
  std::string_view operator_name;
  size_t num_tensors;
  // By position, the call of the step that makes what it reads, or kOther.
  std::array<size_t, 3> makers;
};
constexpr size_t kOther = SIZE_MAX;

// The calls of a step, in their order.
constexpr GruCall kGruCalls[] = {{"aten::addmm", 3, {kOther, kOther, kOther}},
                                 {"aten::add_.Tensor", 2, {kOther, kOther}},
                                 {"aten::sigmoid_", 1, {1}},
                                 {"aten::add_.Tensor", 2, {kOther, kOther}},
                                 {"aten::sigmoid_", 1, {3}},
                                 {"aten::mul_.Tensor", 2, {kOther, 2}},
                                 {"aten::add.Tensor", 2, {kOther, 5}},
                                 {"aten::tanh", 1, {6}},
                                 {"aten::sub.Tensor", 2, {kOther, 7}},
                                 {"aten::mul.Tensor", 2, {8, 4}},
                                 {"aten::add.Tensor", 2, {9, 7}}};

class GruMatcher {
 public:
  GruMatcher(const TraceRewriter& rewriter, size_t index) : rewriter_(rewriter), index_(index) {}

  bool matches() const {
    return has_calls() && are_parts(result(0), {input(1, 0), input(3, 0), input(5, 0)}) &&
           are_parts(gates(), {gates(), input(3, 1), input(6, 0)}) &&
           is_same(state(), input(8, 0)) && has_parameters() && is_private();
  }

  TensorId state() const { return input(0, 1); }
  TensorId gates() const { return input(1, 1); }
  TensorId output() const { return result(10); }
  const at::Tensor& bias() const { return rewriter_.constant(input(0, 0)); }
  const at::Tensor& weight() const { return rewriter_.constant(input(0, 2)); }
  int64_t num_sequences() const { return rewriter_.tensor(output()).sizes[0]; }
  int64_t num_units() const { return rewriter_.tensor(output()).sizes[1]; }

 private:
  TensorId input(size_t call, size_t position) const {
    return std::get<TensorId>(rewriter_.call(index_ + call).arguments[position]);
  }
  TensorId result(size_t call) const { return rewriter_.call(index_ + call).outputs[0]; }

  bool has_calls() const {
    if (index_ + std::size(kGruCalls) > rewriter_.num_calls()) return false;
    for (size_t i = 0; i < std::size(kGruCalls); ++i) {
      const TraceCall& call = rewriter_.call(index_ + i);
      const CallArguments arguments(call);
      const bool is_it = rewriter_.is_open(index_ + i) &&
                         is_call(call, kGruCalls[i].operator_name) &&
                         tensors_of(call).size() == kGruCalls[i].num_tensors &&
                         arguments.number("alpha", 1) == 1 && arguments.number("beta", 1) == 1;
      if (!is_it) return false;
      for (size_t k = 0; k < kGruCalls[i].num_tensors; ++k) {
        const size_t maker = kGruCalls[i].makers[k];
        if (maker != kOther && !is_same(input(i, k), result(maker))) return false;
      }
    }
    return rewriter_.tensor(output()).sizes.size() == 2;
  }

  bool is_same(TensorId a, TensorId b) const {
    return rewriter_.tensor(a).buffer == rewriter_.tensor(b).buffer &&
           rewriter_.have_same_layout(a, b);
  }

  // Whether `parts` are the thirds of rows that begin with `whole`.
  bool are_parts(TensorId whole, const std::array<TensorId, 3>& parts) const {
    const TraceTensor& first = rewriter_.tensor(whole);
    for (size_t i = 0; i < parts.size(); ++i) {
      const TraceTensor& part = rewriter_.tensor(parts[i]);
      const bool is_it = part.buffer == first.buffer && part.dtype == c10::kFloat &&
                         part.sizes == rewriter_.tensor(output()).sizes &&
                         part.strides[0] == first.strides[0] && part.strides[1] == 1 &&
                         part.offset == first.offset + static_cast<int64_t>(i) * num_units();
      if (!is_it) return false;
    }
    return true;
  }

  bool has_parameters() const {
    return rewriter_.is_value(state()) && rewriter_.is_contiguous(state()) &&
           rewriter_.is_value(gates()) && rewriter_.is_value(output()) &&
           rewriter_.is_contiguous(output()) && num_units() % kLanes == 0 && bias().defined() &&
           bias().dim() == 1 && bias().size(0) == 3 * num_units() && weight().defined() &&
           weight().sizes() == at::IntArrayRef{num_units(), 3 * num_units()};
  }

  // Whether nothing else reads the intermediate results of the step.
  bool is_private() const {
    return std::ranges::all_of(std::array{0, 6, 7, 8, 9}, [&](size_t call) {
      return rewriter_.is_read_within(result(call), index_, index_ + std::size(kGruCalls) - 1);
    });
  }

  const TraceRewriter& rewriter_;
  size_t index_;
};

// Inputs: gates, state and sums, and the weights for few sequences.
FusedCall gru_step(GruStep step) {
  const auto run = [step](const CallTensors& inputs, const CallTensors& outputs) mutable {
    step.gates = floats_of(inputs[0]);
    step.state = floats_of(inputs[1]);
    step.sums = floats_of(inputs[2]);
    if (inputs.size() > 3) step.weights = floats_of(inputs[3]);
    step.output = outputs[0].mutable_data_ptr<float>();
    run_gru_step(step);
  };
  return own_call("torch_ir::gru_step", run);
}

}  // namespace

// LibTorch calls it for each layer and direction; outside training it has no workspace to return.
std::optional<Replacement> replace_lstm(TraceRewriter& rewriter, size_t index) {
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
  std::vector<at::Tensor> weights;
  for (const char* name : {"weight0", "weight1", "weight2", "weight3"}) {
    weights.push_back(rewriter.known(arguments.tensor(name)));
  }
  const auto is_packable = [](const at::Tensor& weight) {
    return weight.defined() && weight.is_contiguous();
  };
  // Measured for 48 and 96 units; with 512, LibTorch packs 4 MB of weights anew at each step.
  constexpr int64_t kMostUnitsOfManySequences = 256;
  const bool is_taken =
      arguments.value("mode").toInt() == kLstmMode && !arguments.value("train").toBool() &&
      is_given("input") && rewriter.tensor(*source).sizes.size() == 3 && num_units % kLanes == 0 &&
      (num_units <= kMostUnitsOfManySequences ||
       has_few_sequences(rewriter.tensor(*source).sizes[1], num_units)) &&
      is_given("hx_") && is_given("cx_") && std::ranges::all_of(weights, is_packable) &&
      call.outputs.size() == 3 && std::ranges::all_of(call.outputs, is_usable);
  if (!is_taken) return std::nullopt;
  return Replacement{{index}, [=, &rewriter] { return emit_lstm(rewriter, index, weights); }};
}

std::optional<Replacement> replace_gru_step(TraceRewriter& rewriter, size_t index) {
  const GruMatcher match(rewriter, index);
  if (!match.matches()) return std::nullopt;
  const bool is_small = has_few_sequences(match.num_sequences(), match.num_units());
  PrimitivePtr product;
  if (!is_small) {
    product = onednn::make_inner_product(rewriter.plain_layout(match.state()),
                                         Layout::any({3 * match.num_units(), match.num_units()}),
                                         /*has_bias=*/true);
    if (product == nullptr) return std::nullopt;
  }
  std::vector<size_t> calls(std::size(kGruCalls));
  std::iota(calls.begin(), calls.end(), index);
  return Replacement{
      calls, [&rewriter, match, calls, product] {
        GruStep step{};
        step.num_sequences = match.num_sequences();
        step.num_units = match.num_units();
        step.gates_stride = rewriter.tensor(match.gates()).strides[0];
        const TensorId state = rewriter.plain(match.state());
        const TensorId bias = rewriter.add_constant(match.bias().contiguous());
        std::vector<TensorId> inputs = {rewriter.plain(match.gates()), state};
        if (product != nullptr) {
          const TensorId weight = packed_weight(rewriter, match.weight().t(), product->inputs[1]);
          inputs.push_back(rewriter.make(product, {state, weight, bias}, calls.back()));
          step.sums_stride = 3 * step.num_units;
        } else {
          inputs.push_back(bias);
          inputs.push_back(rewriter.packed("gru", {match.weight()}, [&] {
            return match.weight()
                .view({step.num_units, 3, -1, kLanes})
                .permute({2, 0, 1, 3})
                .contiguous();
          }));
        }
        rewriter.emit(gru_step(step), inputs, {match.output()}, calls.back());
        return calls.size();
      }};
}

}  // namespace torch_ir
