#include "torch_ir/exporter/capture/observe.h"

#include <fmt/format.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <unordered_map>

#include "torch_ir/base/error.h"
#include "torch_ir/exporter/capture/recorder.h"
#include "torch_ir/operators/random_state.h"

namespace torch_ir {
namespace {

// Nodes are named by what they call, in order: where names agree, so do the calls.
void check_same_nodes(const ExportedGraph& called, const Graph& graph) {
  const auto [call, node] =
      std::ranges::mismatch(called.nodes, graph.nodes, {}, &ExportedNode::name, &OpNode::name);
  const bool has_ended = node == graph.nodes.end();
  const bool calls_no_more = call == called.nodes.end();
  if (has_ended && calls_no_more) return;
  throw ExportError(fmt::format(
      "on these inputs the model calls other operators than its graph has: node {} "
      "of the graph is {}, the model calls {} there",
      node - graph.nodes.begin(),
      has_ended ? "the end" : fmt::format("'{}' ({})", node->name, node->op_type),
      calls_no_more ? "nothing more" : fmt::format("'{}' ({})", call->name, call->target)));
}

// Runs every call as it is, and tells those values that have a name.
class Teller : public DispatchMode {
 public:
  Teller(const CapturedModel& captured, const ValueObserver& observer)
      : captured_(captured), observer_(observer) {}

  void call(const c10::OperatorHandle& op, c10::DispatchKeySet /*keys*/,
            torch::jit::Stack* stack) override {
    const RecordedCall* recorded = next_call(op);
    if (recorded != nullptr) tell_arguments(*recorded, op, *stack);
    op.callBoxed(stack);
    if (recorded != nullptr) tell_results(*recorded, op, *stack);
  }

  // To be called when the model has run.
  void finish() const {
    if (next_ < captured_.calls.size()) {
      fail(captured_.calls[next_], "makes no more calls");
    }
  }

 private:
  const RecordedCall* next_call(const c10::OperatorHandle& op) {
    const size_t number = num_calls_++;
    if (next_ == captured_.calls.size() || captured_.calls[next_].number != number) return nullptr;
    const RecordedCall& recorded = captured_.calls[next_++];
    if (recorded.op != op.operator_name()) fail(recorded, "calls " + op.schema().name());
    return &recorded;
  }

  [[noreturn]] static void fail(const RecordedCall& recorded, const std::string& what) {
    throw ExportError(
        fmt::format("the model {} where it called {} when it ran before: what it calls depends on "
                    "the values, and a graph can not say that",
                    what, recorded.op.name));
  }

  void tell_arguments(const RecordedCall& recorded, const c10::OperatorHandle& op,
                      const torch::jit::Stack& stack) const {
    const std::vector<at::Tensor> tensors = tensors_of(arguments_of(op, stack));
    for (const auto& [index, value] : recorded.arguments) tell(value, tensors.at(index));
  }

  void tell_results(const RecordedCall& recorded, const c10::OperatorHandle& op,
                    const torch::jit::Stack& stack) const {
    const std::vector<at::Tensor> tensors = tensors_of(results_of(op, stack));
    if (tensors.size() != recorded.outputs.size()) {
      fail(recorded, fmt::format("gets {} result(s)", tensors.size()));
    }
    for (size_t i = 0; i < tensors.size(); ++i) tell(recorded.outputs[i], tensors[i]);
  }

  void tell(ValueId value, const at::Tensor& tensor) const {
    const std::string& name = captured_.program[value].name;
    if (!name.empty()) observer_(name, tensor);
  }

  const CapturedModel& captured_;
  const ValueObserver& observer_;
  size_t num_calls_ = 0;
  // The first of the recorded calls that was not met yet.
  size_t next_ = 0;
};

CapturedModel capture_once(const Model& model, const std::vector<at::Tensor>& inputs,
                           const std::vector<std::string>& input_names) {
  const RandomStateGuard keep_generator;
  return capture_model(model, inputs, {.input_names = input_names});
}

}  // namespace

ObservedModel::ObservedModel(const Model& model, const std::vector<at::Tensor>& inputs,
                             const std::vector<std::string>& input_names, const Graph& graph)
    : captured_(std::make_shared<CapturedModel>(capture_once(model, inputs, input_names))) {
  check_same_nodes(captured_->program, graph);
}

void ObservedModel::run(const Model& model, const std::vector<at::Tensor>& inputs,
                        const ValueObserver& observer) const {
  const std::vector<at::Tensor> own = own_inputs(inputs);
  tell_inputs(model, own, observer);
  Teller teller(*captured_, observer);
  run_in_mode(model, own, teller);
  teller.finish();
}

void ObservedModel::tell_inputs(const Model& model, const std::vector<at::Tensor>& inputs,
                                const ValueObserver& observer) const {
  std::unordered_map<std::string, at::Tensor> state;
  if (model.module()) {
    for (const auto& item : model.module()->named_parameters()) state[item.key()] = item.value();
    for (const auto& item : model.module()->named_buffers()) state[item.key()] = item.value();
  }
  size_t next_input = 0;
  for (const ExportedInput& input : captured_->program.inputs) {
    const std::string& name = captured_->program[input.value].name;
    if (input.kind == InputKind::kUserInput) {
      observer(name, inputs.at(next_input++));
    } else if (const auto found = state.find(input.target); found != state.end()) {
      observer(name, found->second);
    }
  }
}

}  // namespace torch_ir
