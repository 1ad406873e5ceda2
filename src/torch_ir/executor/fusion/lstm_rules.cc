#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "torch_ir/executor/fusion/call_arguments.h"
#include "torch_ir/executor/fusion/lstm_layer.h"
#include "torch_ir/executor/fusion/rules.h"

namespace torch_ir {
namespace {

using onednn::Layout;

// Units up to which the recurrent weights stay in a processor's cache of the second level.
constexpr int64_t kMostUnits = 512;
// Where there are more sequences and units the library's product of matrices is faster, measured.
constexpr int64_t kFewSequences = 2;
constexpr int64_t kMostStates = 256;

bool is_few(int64_t num_sequences, int64_t num_units) {
  return num_sequences <= kFewSequences || num_sequences * num_units <= kMostStates;
}

// Arguments: gates, weights as LstmLayer wants them, state and cell before; outputs: those of all
// steps, state and cell after.
class LstmKernel final : public PreparedKernel {
 public:
  LstmKernel(const KernelCall& call, const LstmLayer& layer) : layer_(layer) {
    for (const c10::IValue& argument : call.arguments) inputs_.push_back(argument.toTensor());
    outputs_ = call.outputs;
    bytes_ = static_cast<size_t>(layer.num_sequences * layer.num_units) * sizeof(float);
  }

  void run() override {
    layer_.gates = static_cast<float*>(inputs_[0].mutable_data_ptr());
    layer_.weights = static_cast<const float*>(inputs_[1].const_data_ptr());
    layer_.outputs = outputs_[0].mutable_data_ptr<float>();
    layer_.state = outputs_[1].mutable_data_ptr<float>();
    layer_.cell = outputs_[2].mutable_data_ptr<float>();
    std::memcpy(layer_.state, inputs_[2].const_data_ptr(), bytes_);
    std::memcpy(layer_.cell, inputs_[3].const_data_ptr(), bytes_);
    run_lstm_layer(layer_);
  }

 private:
  LstmLayer layer_;
  std::vector<at::Tensor> inputs_;
  std::vector<at::Tensor> outputs_;
  size_t bytes_;
};

class LstmCall final : public FusedCall {
 public:
  explicit LstmCall(const LstmLayer& layer) : layer_(layer) {}

  std::string name() const override { return "torch_ir::lstm_layer"; }
  std::unique_ptr<PreparedKernel> prepare(const KernelCall& call) const override {
    return std::make_unique<LstmKernel>(call, layer_);
  }

 private:
  LstmLayer layer_;
};

class LstmBuilder {
 public:
  LstmBuilder(TraceRewriter& rewriter, size_t index)
      : rewriter_(rewriter),
        index_(index),
        arguments_(rewriter.call(index)),
        source_(*arguments_.tensor("input")) {
    layer_.num_steps = rewriter.tensor(source_).sizes[0];
    layer_.num_sequences = rewriter.tensor(source_).sizes[1];
    layer_.num_units = arguments_.value("hidden_size").toInt();
    layer_.is_reverse = arguments_.value("reverse").toBool();
  }

  size_t emit() {
    const auto gates = make_gates();
    if (!gates) return 0;
    rewriter_.emit(std::make_shared<LstmCall>(layer_),
                   {*gates, recurrent_weights(), rewriter_.plain(*arguments_.tensor("hx_")),
                    rewriter_.plain(*arguments_.tensor("cx_"))},
                   rewriter_.call(index_).outputs, index_);
    return 1;
  }

 private:
  const at::Tensor& constant(std::string_view name) const {
    return rewriter_.constant(*arguments_.tensor(name));
  }

  // What the inputs add to the gates, of all steps at once by oneDNN.
  std::optional<TensorId> make_gates() {
    const int64_t rows = layer_.num_steps * layer_.num_sequences;
    const int64_t num_inputs = rewriter_.tensor(source_).sizes[2];
    const int64_t num_gates = 4 * layer_.num_units;
    std::optional<Layout> bias;
    // Where it has none LibTorch passes other weights in their place.
    if (arguments_.value("has_biases").toBool()) bias = Layout::strided({num_gates}, {1});
    const onednn::PrimitivePtr product = onednn::make_inner_product(
        Layout::strided({rows, num_inputs}, {num_inputs, 1}), Layout::any({num_gates, num_inputs}),
        bias, Layout::strided({rows, num_gates}, {num_gates, 1}), {});
    if (product == nullptr) return std::nullopt;
    const Layout& wanted = product->inputs()[1];
    const at::Tensor& weight = constant("weight0");
    const Layout given = Layout::strided(wanted.sizes(), weight.strides().vec());
    std::vector<TensorId> inputs = {rewriter_.plain(source_),
                                    rewriter_.packed(given.key() + wanted.key(), {weight}, [&] {
                                      return reorder_constant(weight, given, wanted);
                                    })};
    if (bias) {
      const std::vector<at::Tensor> biases = {constant("weight2"), constant("weight3")};
      inputs.push_back(rewriter_.packed("sum", biases, [&] { return biases[0] + biases[1]; }));
    }
    return rewriter_.make(product, inputs, index_);
  }

  TensorId recurrent_weights() {
    const at::Tensor& weight = constant("weight1");
    return rewriter_.packed("panels", {weight}, [&] {
      return weight.view({-1, kLstmPanel, layer_.num_units}).transpose(1, 2).contiguous();
    });
  }

  TraceRewriter& rewriter_;
  size_t index_;
  CallArguments arguments_;
  TensorId source_;
  LstmLayer layer_{};
};

// Of few sequences. LibTorch calls it once for each layer and direction; not in training it has no
// workspace to return.
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
  const bool is_taken = arguments.value("mode").toInt() == kLstmMode &&
                        !arguments.value("train").toBool() && num_units % (kLstmPanel / 4) == 0 &&
                        num_units <= kMostUnits && is_given("input") &&
                        rewriter.tensor(*source).sizes.size() == 3 &&
                        is_few(rewriter.tensor(*source).sizes[1], num_units) && is_given("hx_") &&
                        is_given("cx_") && is_constant("weight0") && is_constant("weight1") &&
                        is_constant("weight2") && is_constant("weight3") &&
                        call.outputs.size() == 3 && std::ranges::all_of(call.outputs, is_usable);
  if (!is_taken) return std::nullopt;
  return TraceRewriter::Replacement{
      {index}, [&rewriter, index] { return LstmBuilder(rewriter, index).emit(); }};
}

constexpr RuleEntry kLstmRules[] = {{"aten::mkldnn_rnn_layer", &replace_lstm}};

}  // namespace

RuleTable lstm_rules() { return kLstmRules; }

}  // namespace torch_ir
