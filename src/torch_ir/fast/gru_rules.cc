// One step of a GRU, for which LibTorch makes eleven calls.
//
// With few sequences, reading the recurrent weights takes most of the time, so they are packed in
// reading order. With many, a primitive first multiplies state and weights.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <numeric>

#include "torch_ir/fast/rules.h"
#include "torch_ir/fast/vectors.h"
#include "torch_ir/runtime/kernels/clones.h"

namespace torch_ir {

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

struct GruCall {
  std::string_view operator_name;
  size_t num_tensors;
};

// The calls of a step, in their order.
constexpr GruCall kGruCalls[] = {
    {"aten::addmm", 3},       {"aten::add_.Tensor", 2}, {"aten::sigmoid_", 1},
    {"aten::add_.Tensor", 2}, {"aten::sigmoid_", 1},    {"aten::mul_.Tensor", 2},
    {"aten::add.Tensor", 2},  {"aten::tanh", 1},        {"aten::sub.Tensor", 2},
    {"aten::mul.Tensor", 2},  {"aten::add.Tensor", 2}};

// A call of a step that reads, at a position among its arguments, what another one makes.
struct GruFlow {
  size_t reader;
  size_t position;
  size_t maker;
};

constexpr GruFlow kGruFlows[] = {{2, 0, 1}, {4, 0, 3}, {5, 1, 2}, {6, 1, 5},  {7, 0, 6},
                                 {8, 1, 7}, {9, 0, 8}, {9, 1, 4}, {10, 0, 9}, {10, 1, 7}};

class GruMatcher {
 public:
  GruMatcher(const TraceRewriter& rewriter, size_t index) : rewriter_(rewriter), index_(index) {}

  bool matches() const {
    return has_calls() &&
           std::ranges::all_of(kGruFlows,
                               [this](const GruFlow& flow) {
                                 return is_same(input(flow.reader, flow.position),
                                                result(flow.maker));
                               }) &&
           are_parts(result(0), {input(1, 0), input(3, 0), input(5, 0)}) &&
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
                         c10::toString(call.op.operator_name()) == kGruCalls[i].operator_name &&
                         tensors_of(call).size() == kGruCalls[i].num_tensors &&
                         arguments.number("alpha", 1) == 1 && arguments.number("beta", 1) == 1;
      if (!is_it) return false;
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
    for (const size_t call : {0, 6, 7, 8, 9}) {
      const size_t last = index_ + std::size(kGruCalls) - 1;
      if (!rewriter_.is_read_within(result(call), index_, last)) return false;
    }
    return true;
  }

  const TraceRewriter& rewriter_;
  size_t index_;
};

// Inputs: gates, state and sums, and the weights for few sequences.
FusedCall gru_step(GruStep step) {
  return own_call("torch_ir::gru_step",
                  [step](const CallTensors& inputs, const CallTensors& outputs) mutable {
                    step.gates = floats_of(inputs[0]);
                    step.state = floats_of(inputs[1]);
                    step.sums = floats_of(inputs[2]);
                    if (inputs.size() > 3) step.weights = floats_of(inputs[3]);
                    step.output = outputs[0].mutable_data_ptr<float>();
                    run_gru_step(step);
                  });
}

TensorId weights_of(TraceRewriter& rewriter, const GruMatcher& match) {
  return rewriter.packed("gru", {match.weight()}, [&] {
    // The weight is [units, 3 units].
    return match.weight()
        .view({match.num_units(), 3, -1, kLanes})
        .permute({2, 0, 1, 3})
        .contiguous();
  });
}

// Null if the library cannot make it.
onednn::PrimitivePtr make_gru_product(const TraceRewriter& rewriter, const GruMatcher& match) {
  using onednn::Layout;
  const int64_t columns = 3 * match.num_units();
  return onednn::make_inner_product(
      rewriter.plain_layout(match.state()), Layout::any({columns, match.num_units()}),
      contiguous_layout({columns}), contiguous_layout({match.num_sequences(), columns}), {});
}

}  // namespace

std::optional<TraceRewriter::Replacement> replace_gru_step(TraceRewriter& rewriter, size_t index) {
  const GruMatcher match(rewriter, index);
  if (!match.matches()) return std::nullopt;
  const bool is_small = has_few_sequences(match.num_sequences(), match.num_units());
  const onednn::PrimitivePtr product = is_small ? nullptr : make_gru_product(rewriter, match);
  if (!is_small && product == nullptr) return std::nullopt;
  std::vector<size_t> calls(std::size(kGruCalls));
  std::iota(calls.begin(), calls.end(), index);
  return TraceRewriter::Replacement{
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
          inputs.insert(inputs.end(), {bias, weights_of(rewriter, match)});
        }
        rewriter.emit(gru_step(step), inputs, {match.output()}, calls.back());
        return calls.size();
      }};
}

}  // namespace torch_ir
