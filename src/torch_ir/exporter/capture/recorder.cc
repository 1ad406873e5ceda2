#include "torch_ir/exporter/capture/recorder.h"

#include <ATen/Context.h>
#include <ATen/ops/alias.h>
#include <c10/util/ScopeExit.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/capture/python_form.h"
#include "torch_ir/exporter/meta/meta_kernels.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/strided_copy.h"
#include "torch_ir/operators/dispatch_mode.h"
#include "torch_ir/operators/kept_writes.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/operators/operator_table.h"

namespace torch_ir {
namespace {

bool is_empty_factory(const c10::FunctionSchema& schema) {
  return schema.name() == "aten::empty" || schema.name() == "aten::empty_strided";
}

// Rejects a call whose result would differ in eval mode.
void check_eval_mode(const c10::FunctionSchema& schema, c10::ArrayRef<c10::IValue> arguments) {
  const auto is_true = [&](const char* name) {
    const c10::IValue* value = find_argument(schema, arguments, name);
    return value != nullptr && value->isBool() && value->toBool();
  };
  // The last one is that of instance_norm.
  if (!is_true("training") && !is_true("train") && !is_true("use_input_stats")) return;
  // Without running statistics a normalization also uses those of the batch in eval mode.
  const c10::IValue* mean = find_argument(schema, arguments, "running_mean");
  const bool has_no_statistics = mean != nullptr
                                     ? tensors_of(*mean).empty()
                                     : schema.argumentIndexWithName("momentum").has_value();
  // Recurrent layers call their probability "dropout".
  const c10::IValue* probability =
      find_argument(schema, arguments, schema.argumentIndexWithName("p") ? "p" : "dropout");
  const bool drops_nothing =
      probability != nullptr && probability->isDouble() && probability->toDouble() == 0;
  if (has_no_statistics || drops_nothing) return;
  throw ExportError(kNotSupported,
                    schema.name() +
                        " runs in training mode, whose results differ from inference: call "
                        "model.eval() (C++: model->eval()) before the export");
}

// `name` is as in "my::scale".
std::string advice_on_meta_kernel(const std::string& name) {
  const size_t colons = name.find("::");
  return fmt::format(
      "{} has no kernel for the meta device: add TORCH_LIBRARY_IMPL({}, Meta, m) {{ m.impl(\"{}\", "
      "...); }}, a function that returns empty tensors of the right shapes",
      name, name.substr(0, colons), name.substr(colons + 2));
}

// A TensorImpl identifies a tensor, and a StorageImpl its memory. Weak references keep their
// addresses from being reused, but not their data alive. There are three kinds of tensors:
// - values: graph inputs, weights, constants, and results of recorded calls;
// - scratch: made by `aten::empty` on a real device, or computed from scratch alone, as in
//   `torch::tensor({1, 2})`, which fills memory behind the dispatcher's back. Calls on scratch
//   run but are not recorded; scratch that meets a value becomes a constant;
// - all others, which become constants at their first use.
class Recorder : public DispatchMode {
 public:
  // On meta, tensors have no data, and only the shapes of the model's real tensors count.
  explicit Recorder(bool on_meta) : on_meta_(on_meta) {}

  void add_input(InputKind kind, const std::string& name, const at::Tensor& tensor) {
    const ValueId value = add_value(tensor);
    const bool is_user_input = kind == InputKind::kUserInput;
    if (is_user_input) {
      graph_[value].name = name;
    } else {
      graph_[value].strides = special_strides(tensor);
      graph_[value].requires_grad = tensor.requires_grad();
    }
    graph_.inputs.push_back({kind, value, is_user_input ? "" : name});
  }

  // Makes a registered constant an input at its first use.
  void name_constant(const LiftedConstant& constant) {
    registered_constants_.insert(constant.tensor, constant);
  }

  void call(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) override {
    // A copy, as the call replaces them on the stack.
    const torch::jit::Stack arguments = arguments_of(op, *stack).vec();
    kept_.before(op, arguments);
    if (runs_unrecorded(op, arguments)) {
      call_unrecorded(op, stack, arguments);
    } else if (!answer_question(op, stack, arguments)) {
      call_recorded(op, stack, arguments);
    }
    kept_.after(results_of(op, *stack));
  }

  // Returns the graph that returns `outputs`. Call it once, after the model ran.
  Recording finish(const std::vector<at::Tensor>& outputs) {
    for (const at::Tensor& output : outputs) graph_.outputs.push_back(value_of(output));
    // Constants stand between the weights and the user inputs.
    const auto first_user_input =
        std::ranges::find(graph_.inputs, InputKind::kUserInput, &GraphInput::kind);
    graph_.inputs.insert(first_user_input, constant_inputs_.begin(), constant_inputs_.end());
    return {std::move(graph_), std::move(constants_), std::move(made_constants_)};
  }

 private:
  using Arguments = c10::ArrayRef<c10::IValue>;

  struct MemoryView {
    const c10::TensorImpl* tensor;
    c10::ScalarType dtype;
    int64_t offset;
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;

    bool shows(const at::Tensor& other) const {
      return dtype == other.scalar_type() && offset == other.storage_offset() &&
             other.sizes() == sizes && other.strides() == strides;
    }
  };

  // LibTorch's factories return shallow copies, so a memory may have several views.
  struct Memory {
    std::vector<MemoryView> views = {};
    bool is_computed = false;
  };

  struct View {
    c10::OperatorHandle op;
    torch::jit::Stack arguments;
  };

  bool runs_unrecorded(const c10::OperatorHandle& op, Arguments arguments) {
    if (facts_of(op).asks_about_metadata) return true;
    if (is_empty_factory(op.schema())) {
      const c10::IValue* device = find_argument(op.schema(), arguments, "device");
      if (device == nullptr || device->isNone() || !device->toDevice().is_meta()) return true;
    }
    const std::vector<at::Tensor> tensors = tensors_of(arguments);
    return !tensors.empty() &&
           std::ranges::all_of(tensors, [&](const at::Tensor& t) { return is_scratch(t); });
  }

  void call_unrecorded(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                       Arguments arguments) {
    const std::vector<at::Tensor> inputs = tensors_of(arguments);
    op.callBoxed(stack);
    if (facts_of(op).asks_about_metadata) return;
    for_each_tensor(results_of(op, *stack), [&](const at::Tensor& tensor) {
      // Uninitialized memory would make the graph's constants differ from run to run.
      if (is_empty_factory(op.schema())) tensor.zero_();
      const bool is_view = std::ranges::any_of(inputs, [&](const at::Tensor& input) {
        return !input.is_same(tensor) && StorageAddress::of(input) == StorageAddress::of(tensor);
      });
      scratch_.insert(tensor, is_view ? std::optional(View{op, arguments.vec()}) : std::nullopt);
    });
  }

  bool answer_question(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                       Arguments arguments) {
    const c10::FunctionSchema& schema = op.schema();
    const bool returns_tensors =
        std::ranges::any_of(schema.returns(), holds_tensors, &c10::Argument::type);
    if (schema.returns().empty() || returns_tensors) return false;
    // On real tensors the answer becomes part of the model. Without data only comparing a tensor
    // with itself has an answer, as in the self-attention of torch::nn::MultiheadAttention.
    if (schema.name() == "aten::equal") {
      if (!on_meta_) {
        op.callBoxed(stack);
        return true;
      }
      const std::vector<at::Tensor> tensors = tensors_of(arguments);
      const bool is_same = tensors.at(0).is_same(tensors.at(1));
      if (is_same || tensors[0].sizes() != tensors[1].sizes()) {
        torch::jit::drop(*stack, arguments.size());
        torch::jit::push(*stack, is_same);
        return true;
      }
    }
    throw ExportError(kNotSupported, schema.name() +
                                         " needs the data of a tensor, so the graph would be valid "
                                         "for these inputs only: replace it with tensor operators");
  }

  void call_recorded(const c10::OperatorHandle& op, torch::jit::Stack* stack, Arguments arguments) {
    check_eval_mode(op.schema(), arguments);
    Node node = trace_call(op, arguments);
    if (on_meta_) move_to_meta(op, stack);
    try {
      op.callBoxed(stack);
    } catch (const c10::Error& error) {
      const std::string& name = op.schema().name();
      if (on_meta_ && may_depend_on_data(op)) {
        throw ExportError(
            kNotSupported,
            name +
                " needs the data of its input, but the meta device has none: replace it, "
                "or export on real tensors");
      }
      const std::string text = name + " failed" + (on_meta_ ? " on the meta device: " : ": ") +
                               headline(error.what_without_backtrace());
      // The dispatcher throws this for an operator without a kernel.
      const bool has_no_kernel = dynamic_cast<const c10::NotImplementedError*>(&error) != nullptr;
      if (has_no_kernel && on_meta_ && !name.starts_with("aten::")) {
        throw ExportError(kNotSupported, advice_on_meta_kernel(name));
      }
      throw has_no_kernel ? ExportError(kNotSupported, text) : ExportError(text);
    }
    node.outputs = trace_outputs(op, *stack);
    graph_.nodes.push_back(std::move(node));
  }

  void move_to_meta(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
    const size_t num_arguments = op.schema().arguments().size();
    for (size_t i = 0; i < num_arguments; ++i) {
      c10::IValue& argument = torch::jit::peek(*stack, i, num_arguments);
      if (op.schema().arguments()[i].name() == "device") {
        // Without tensor arguments, None would mean the default device.
        const bool is_factory = tensors_of(*stack).empty();
        if (is_factory || !argument.isNone()) argument = c10::Device(c10::kMeta);
      } else {
        argument = map_tensors(argument, [&](const at::Tensor& t) { return twin_of(t); });
      }
    }
  }

  // One twin per tensor, so that all see writes to it.
  at::Tensor twin_of(const at::Tensor& tensor) {
    if (tensor.is_meta()) return tensor;
    const auto [twin, is_new] = twins_.insert(tensor, at::Tensor());
    if (is_new) {
      *twin = meta_twin(tensor);
      if (const auto value = find_value(tensor)) values_.insert(*twin, *value);
    }
    return *twin;
  }

  Node trace_call(const c10::OperatorHandle& op, Arguments arguments) {
    Node node{.name = {}, .target = op_type_name(op.operator_name()), .arguments = {}};
    for (size_t i = 0; i < arguments.size(); ++i) {
      node.arguments.push_back(
          exported_argument(op.schema().arguments()[i],
                            record_argument<ValueId>(
                                arguments[i], [&](const at::Tensor& t) { return value_of(t); })));
    }
    return node;
  }

  std::vector<ValueId> trace_outputs(const c10::OperatorHandle& op,
                                     const torch::jit::Stack& stack) {
    std::vector<ValueId> outputs;
    for_each_tensor(results_of(op, stack), [&](const at::Tensor& tensor) {
      outputs.push_back(add_value(tensor));
      if (tensor.has_storage()) memory_.insert(tensor, {}).first->is_computed = true;
    });
    return outputs;
  }

  // The value of `tensor`, which becomes a constant if it has none.
  ValueId value_of(const at::Tensor& tensor) {
    if (const auto value = find_value(tensor)) return *value;
    const std::optional<View>* scratch = scratch_.find(tensor);
    if (scratch != nullptr && *scratch) return replay_view(tensor, View(**scratch));
    return make_constant(tensor);
  }

  std::optional<ValueId> find_value(const at::Tensor& tensor) {
    if (const ValueId* value = values_.find(tensor)) return *value;
    const Memory* memory = memory_.find(tensor);
    if (memory == nullptr) return std::nullopt;
    for (const MemoryView& view : memory->views) {
      if (!view.shows(tensor)) continue;
      return *values_.insert(tensor, *values_.find(view.tensor)).first;
    }
    return std::nullopt;
  }

  ValueId make_constant(const at::Tensor& tensor) {
    const Memory* memory = memory_.find(tensor);
    if (memory != nullptr && memory->is_computed) {
      throw ExportError(
          kNotSupported,
          "the model uses a tensor that shares memory with a computed one but was not made from it "
          "by an operator (set_data, from_blob or raw pointers): the graph cannot represent it");
    }
    const LiftedConstant* registered = registered_constants_.find(tensor);
    const std::string name = registered != nullptr
                                 ? registered->name
                                 : fmt::format("{}{}", kUnnamedConstant, num_unnamed_constants_++);
    const at::Tensor& known = registered != nullptr ? registered->value : tensor;
    const ValueId value = add_value(tensor);
    graph_[value].strides = special_strides(tensor);
    graph_[value].requires_grad = tensor.requires_grad();
    constant_inputs_.push_back({InputKind::kConstant, value, name});
    if (scratch_.find(tensor) != nullptr) made_constants_.push_back(name);
    constants_.insert(name, known.is_meta() ? known : known.detach().cpu().clone().contiguous());
    return value;
  }

  // The view becomes a node of its constant memory, so that writes to one show through the other.
  ValueId replay_view(const at::Tensor& tensor, const View& view) {
    Node node = trace_call(view.op, view.arguments);
    node.outputs = {add_value(tensor)};
    graph_.nodes.push_back(std::move(node));
    return graph_.nodes.back().outputs[0];
  }

  ValueId add_value(const at::Tensor& tensor) {
    const ValueId value = graph_.add_value({tensor.sizes().vec(), tensor.scalar_type()});
    const auto [known, is_new] = values_.insert(tensor, value);
    *known = value;
    if (is_new && tensor.has_storage()) {
      memory_.insert(tensor, {})
          .first->views.push_back({tensor.unsafeGetTensorImpl(), tensor.scalar_type(),
                                   tensor.storage_offset(), tensor.sizes().vec(),
                                   tensor.strides().vec()});
    }
    return value;
  }

  // Scratch ends for all views of a memory once one of them becomes a value: later writes must be
  // recorded.
  bool is_scratch(const at::Tensor& tensor) {
    return scratch_.find(tensor) != nullptr && memory_.find(tensor) == nullptr;
  }

  const bool on_meta_;
  Graph graph_;
  StateDict constants_{"Constant"};
  std::vector<GraphInput> constant_inputs_;
  std::vector<std::string> made_constants_;
  size_t num_unnamed_constants_ = 0;

  TensorTable<ValueId> values_;
  StorageTable<Memory> memory_;
  TensorTable<std::optional<View>> scratch_;
  TensorTable<LiftedConstant> registered_constants_;
  TensorTable<at::Tensor> twins_;
  KeptWrites kept_;
};

// Copies of the inputs, so that each is its own value and the caller's stay unchanged.
std::vector<at::Tensor> copies_of(const std::vector<at::Tensor>& inputs) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& input : inputs) {
    copies.push_back(input.is_meta() ? at::alias(input.detach()) : input.detach().clone());
  }
  return copies;
}

std::vector<at::Tensor> run_in_mode(const Model& model, const std::vector<at::Tensor>& inputs,
                                    DispatchMode& mode) {
  const c10::NoGradGuard no_grad;
  // torch.export traces without cuDNN, so `cudnn_enabled` is always false in its graphs.
  const auto restore_cudnn =
      c10::make_scope_exit([was_enabled = at::globalContext().userEnabledCuDNN()] {
        at::globalContext().setUserEnabledCuDNN(was_enabled);
      });
  at::globalContext().setUserEnabledCuDNN(false);
  const DispatchModeGuard guard(mode);
  try {
    return model(inputs);
  } catch (const c10::Error& error) {
    throw ExportError("the model failed: " + headline(error.what_without_backtrace()));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw ExportError(std::string("the model failed: ") + error.what());
  }
}

}  // namespace

Recording record_calls(const Model& model, const ModuleState& state,
                       const std::vector<std::string>& names, const std::vector<at::Tensor>& inputs,
                       bool on_meta) {
  Recorder recorder(on_meta);
  for (const auto& item : state.parameters) {
    recorder.add_input(InputKind::kParameter, item.key(), item.value());
  }
  for (const auto& item : state.buffers) {
    recorder.add_input(InputKind::kBuffer, item.key(), item.value());
  }
  for (const LiftedConstant& constant : state.constants) recorder.name_constant(constant);
  const std::vector<at::Tensor> example_inputs = copies_of(inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    recorder.add_input(InputKind::kUserInput, names[i], example_inputs[i]);
  }
  Recording recording = recorder.finish(run_in_mode(model, example_inputs, recorder));
  rewrite_to_python_form(recording.graph);
  return recording;
}

}  // namespace torch_ir
