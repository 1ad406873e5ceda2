#include "torch_ir/exporter/capture/recorder.h"

#include <ATen/ops/empty_strided.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/operators/data_dependence.h"

namespace torch_ir {
namespace {

template <class Visit>
void for_each_tensor(const c10::IValue& value, Visit visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (value.isList()) {
    for (const c10::IValue& item : value.toListRef()) {
      if (item.isTensor() && item.toTensor().defined()) visit(item.toTensor());
    }
  }
}

template <class Visit>
void for_each_tensor(const torch::jit::Stack& values, Visit visit) {
  for (const c10::IValue& value : values) for_each_tensor(value, visit);
}

}  // namespace

std::vector<at::Tensor> tensors_of(const torch::jit::Stack& values) {
  std::vector<at::Tensor> tensors;
  for_each_tensor(values, [&](const at::Tensor& tensor) { tensors.push_back(tensor); });
  return tensors;
}

namespace {

bool holds_tensors(const c10::Type& type) {
  if (type.kind() == c10::TypeKind::TensorType) return true;
  return std::ranges::any_of(type.containedTypes(),
                             [](const c10::TypePtr& part) { return holds_tensors(*part); });
}

bool returns_tensors(const c10::FunctionSchema& schema) {
  return std::ranges::any_of(
      schema.returns(), [](const c10::Argument& result) { return holds_tensors(*result.type()); });
}

bool is_empty_factory(const c10::FunctionSchema& schema) {
  return schema.name() == "aten::empty" || schema.name() == "aten::empty_strided";
}

// On real tensors the answer is taken as part of the model; without data there is one only when
// both sides are one tensor, as in the self-attention of torch::nn::MultiheadAttention.
bool compares_tensors(const c10::FunctionSchema& schema) { return schema.name() == "aten::equal"; }

// Operators that only ask about shape, dtype and the like; their answers are part of the graph.
bool asks_about_metadata(const c10::FunctionSchema& schema) {
  static constexpr std::string_view kNames[] = {"aten::is_same_size",
                                                "aten::is_pinned",
                                                "aten::_has_compatible_shallow_copy_type",
                                                "aten::result_type",
                                                "aten::can_cast",
                                                "aten::promote_types",
                                                "aten::is_complex",
                                                "aten::is_neg",
                                                "aten::is_floating_point",
                                                "aten::is_signed",
                                                "aten::is_conj",
                                                "aten::is_inference",
                                                "aten::size",
                                                "aten::stride",
                                                "aten::sym_size",
                                                "aten::sym_stride",
                                                "aten::sym_numel",
                                                "aten::sym_storage_offset",
                                                "aten::is_contiguous",
                                                "aten::_version",
                                                "aten::_use_cudnn_ctc_loss",
                                                "aten::_nested_tensor_size"};
  return std::ranges::find(kNames, schema.name()) != std::end(kNames);
}

const c10::IValue* find_argument(const c10::FunctionSchema& schema,
                                 const torch::jit::Stack& arguments, const std::string& name) {
  const auto index = schema.argumentIndexWithName(name);
  return index ? &arguments[static_cast<size_t>(*index)] : nullptr;
}

bool is_true(const c10::IValue* value) {
  return value != nullptr && value->isBool() && value->toBool();
}

double number_or(const c10::IValue* value, double otherwise) {
  return value != nullptr && value->isDouble() ? value->toDouble() : otherwise;
}

// Refuses a call that would compute something else in eval mode.
void check_eval_mode(const c10::FunctionSchema& schema, const torch::jit::Stack& arguments) {
  const c10::IValue* training = find_argument(schema, arguments, "training");
  if (!is_true(training)) training = find_argument(schema, arguments, "train");
  if (!is_true(training)) return;
  // Without running statistics a normalization uses those of the batch in eval mode as well.
  const c10::IValue* mean = find_argument(schema, arguments, "running_mean");
  const bool has_no_statistics = mean != nullptr && tensors_of({*mean}).empty();
  // A dropout with probability 0 keeps everything; recurrent layers call theirs "dropout".
  const char* probability = schema.argumentIndexWithName("p") ? "p" : "dropout";
  const bool drops_nothing = number_or(find_argument(schema, arguments, probability), 1) == 0;
  if (has_no_statistics || drops_nothing) return;
  throw ExportError(
      kNotSupported,
      schema.name() +
          " runs in training mode, which computes something else than inference: call "
          "model.eval() (C++: model->eval()) before the export");
}

const c10::StorageImpl* storage_of(const at::Tensor& tensor) {
  return tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl() : nullptr;
}

}  // namespace

bool Recorder::MemoryView::shows(const at::Tensor& other) const {
  return dtype == other.scalar_type() && offset == other.storage_offset() &&
         other.sizes() == sizes && other.strides() == strides;
}

void Recorder::add_input(InputKind kind, const std::string& name, const at::Tensor& tensor) {
  graph_.inputs.push_back({kind, name, add_value(tensor)});
}

void Recorder::name_constant(const std::string& name, const at::Tensor& tensor) {
  keep_address(tensor);
  constant_names_.emplace(tensor.unsafeGetTensorImpl(), name);
}

void Recorder::call(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  const torch::jit::Stack arguments(
      stack->end() - static_cast<std::ptrdiff_t>(op.schema().arguments().size()), stack->end());
  ++num_calls_;
  if (runs_unrecorded(op, arguments)) {
    call_unrecorded(op, stack, arguments);
  } else if (!answer_question(op, stack, arguments)) {
    call_recorded(op, stack, arguments);
  }
}

bool Recorder::runs_unrecorded(const c10::OperatorHandle& op,
                               const torch::jit::Stack& arguments) const {
  if (asks_about_metadata(op.schema())) return true;
  if (is_empty_factory(op.schema())) {
    const c10::IValue* device = find_argument(op.schema(), arguments, "device");
    if (device == nullptr || device->isNone() || !device->toDevice().is_meta()) return true;
  }
  const std::vector<at::Tensor> tensors = tensors_of(arguments);
  return !tensors.empty() &&
         std::ranges::all_of(tensors, [&](const at::Tensor& t) { return is_scratch(t); });
}

void Recorder::call_unrecorded(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                               const torch::jit::Stack& arguments) {
  const std::vector<at::Tensor> inputs = tensors_of(arguments);
  op.callBoxed(stack);
  if (asks_about_metadata(op.schema())) return;
  const size_t num_returns = op.schema().returns().size();
  const std::span<const c10::IValue> results(
      stack->end() - static_cast<std::ptrdiff_t>(num_returns), stack->end());
  for (const c10::IValue& result : results) {
    for_each_tensor(result, [&](const at::Tensor& tensor) {
      // Memory that nobody fills would make the graph's constants differ from run to run.
      if (is_empty_factory(op.schema())) tensor.zero_();
      const bool is_view = std::ranges::any_of(inputs, [&](const at::Tensor& input) {
        return !input.is_same(tensor) && storage_of(input) == storage_of(tensor);
      });
      keep_address(tensor);
      scratch_.try_emplace(tensor.unsafeGetTensorImpl(),
                           is_view ? std::optional(View{op, arguments}) : std::nullopt);
    });
  }
}

// Answers operators that return no tensor; whether the call was one.
bool Recorder::answer_question(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                               const torch::jit::Stack& arguments) {
  const c10::FunctionSchema& schema = op.schema();
  if (schema.returns().empty() || returns_tensors(schema)) return false;
  const std::vector<at::Tensor> tensors = tensors_of(arguments);
  if (compares_tensors(schema)) {
    if (!on_meta_) {
      op.callBoxed(stack);
      return true;
    }
    const bool is_same = tensors.at(0).is_same(tensors.at(1));
    if (is_same || tensors[0].sizes() != tensors[1].sizes()) {
      torch::jit::drop(*stack, arguments.size());
      torch::jit::push(*stack, is_same);
      return true;
    }
  }
  throw ExportError(
      kNotSupported,
      schema.name() +
          " needs the data of a tensor, so the graph would hold for these inputs only: "
          "replace it by tensor operators");
}

void Recorder::call_recorded(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                             const torch::jit::Stack& arguments) {
  check_eval_mode(op.schema(), arguments);
  TracedNode node{op, {}, {}};
  RecordedCall recorded{num_calls_ - 1, op.operator_name(), {}, {}};
  const ValueId first_new_value = graph_.values.size();
  for (const c10::IValue& argument : arguments) node.arguments.push_back(trace_argument(argument));
  const std::vector<at::Tensor> tensors = tensors_of(arguments);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const ValueId value = value_of(tensors[i]);
    if (value >= first_new_value) recorded.arguments.emplace_back(i, value);
  }
  if (on_meta_) move_to_meta(op, stack);
  try {
    op.callBoxed(stack);
  } catch (const c10::Error& error) {
    const std::string& name = op.schema().name();
    if (on_meta_ && depends_on_data(name)) {
      throw ExportError(
          kNotSupported,
          name +
              " needs the data of its input, and the meta device has none: replace it, "
              "or export on real tensors");
    }
    const std::string text = name + " failed" + (on_meta_ ? " on the meta device: " : ": ") +
                             headline(error.what_without_backtrace());
    // What the dispatcher throws where an operator has no kernel.
    const bool has_no_kernel = dynamic_cast<const c10::NotImplementedError*>(&error) != nullptr;
    throw has_no_kernel ? ExportError(kNotSupported, text) : ExportError(text);
  }
  node.outputs = trace_outputs(*stack, op.schema().returns().size());
  recorded.outputs = node.outputs;
  calls_.push_back(std::move(recorded));
  graph_.nodes.push_back(std::move(node));
}

// Runs a call without data: tensors that a factory makes, and real tensors among the arguments.
void Recorder::move_to_meta(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const size_t num_arguments = op.schema().arguments().size();
  for (size_t i = 0; i < num_arguments; ++i) {
    c10::IValue& argument = torch::jit::peek(*stack, i, num_arguments);
    if (op.schema().arguments()[i].name() == "device") {
      // Left alone, None means the device of the tensor arguments.
      const bool is_factory = tensors_of(*stack).empty();
      if (is_factory || !argument.isNone()) argument = c10::Device(c10::kMeta);
    } else {
      argument = meta_twin(argument);
    }
  }
}

c10::IValue Recorder::meta_twin(const c10::IValue& argument) {
  const auto twin_of = [&](const at::Tensor& tensor) -> at::Tensor {
    if (!tensor.defined() || tensor.is_meta()) return tensor;
    at::Tensor& twin = twins_[tensor.unsafeGetTensorImpl()];
    if (!twin.defined()) {
      twin =
          at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(c10::kMeta));
      if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
        twin.unsafeGetTensorImpl()->set_wrapped_number(true);
      }
      if (const auto value = find_value(tensor)) values_[twin.unsafeGetTensorImpl()] = *value;
    }
    return twin;
  };
  if (argument.isTensor()) return twin_of(argument.toTensor());
  if (!argument.isList()) return argument;
  bool holds_real_tensors = false;
  for_each_tensor(argument, [&](const at::Tensor& t) { holds_real_tensors |= !t.is_meta(); });
  if (!holds_real_tensors) return argument;
  c10::impl::GenericList list = argument.toList().copy();
  for (size_t i = 0; i < list.size(); ++i) {
    const c10::IValue item = list.get(i);
    if (item.isTensor()) list.set(i, twin_of(item.toTensor()));
  }
  return list;
}

TracedArgument Recorder::trace_argument(const c10::IValue& argument) {
  if (argument.isTensor()) {
    if (!argument.toTensor().defined()) return c10::IValue();
    return value_of(argument.toTensor());
  }
  if (!argument.isList() || !holds_tensors(*argument.type())) return argument;
  TracedList list;
  for (const c10::IValue& item : argument.toListRef()) {
    const bool is_present = item.isTensor() && item.toTensor().defined();
    list.push_back(is_present ? std::optional(value_of(item.toTensor())) : std::nullopt);
  }
  return list;
}

std::vector<ValueId> Recorder::trace_outputs(const torch::jit::Stack& stack, size_t num_returns) {
  std::vector<ValueId> outputs;
  const std::span<const c10::IValue> results(stack.end() - static_cast<std::ptrdiff_t>(num_returns),
                                             stack.end());
  for (const c10::IValue& result : results) {
    for_each_tensor(result, [&](const at::Tensor& tensor) {
      outputs.push_back(add_value(tensor));
      if (tensor.has_storage()) computed_storages_.insert(storage_of(tensor));
    });
  }
  return outputs;
}

TracedGraph Recorder::finish(const std::vector<at::Tensor>& outputs) {
  for (const at::Tensor& output : outputs) graph_.outputs.push_back(value_of(output));
  // Constants stand between the weights and the user inputs.
  const auto first_user_input =
      std::ranges::find(graph_.inputs, InputKind::kUserInput, &TracedInput::kind);
  graph_.inputs.insert(first_user_input, constant_inputs_.begin(), constant_inputs_.end());
  return std::move(graph_);
}

ValueId Recorder::value_of(const at::Tensor& tensor) {
  if (const auto value = find_value(tensor)) return *value;
  if (const auto scratch = scratch_.find(tensor.unsafeGetTensorImpl());
      scratch != scratch_.end() && scratch->second) {
    return replay_view(tensor, View(*scratch->second));
  }
  return make_constant(tensor);
}

std::optional<ValueId> Recorder::find_value(const at::Tensor& tensor) {
  if (const auto value = values_.find(tensor.unsafeGetTensorImpl()); value != values_.end()) {
    return value->second;
  }
  const auto same_memory = values_by_storage_.find(storage_of(tensor));
  if (same_memory == values_by_storage_.end()) return std::nullopt;
  for (const MemoryView& view : same_memory->second) {
    if (view.shows(tensor)) {
      keep_address(tensor);
      const ValueId value = values_.at(view.tensor);
      values_.emplace(tensor.unsafeGetTensorImpl(), value);
      return value;
    }
  }
  return std::nullopt;
}

ValueId Recorder::make_constant(const at::Tensor& tensor) {
  if (computed_storages_.contains(storage_of(tensor))) {
    throw ExportError(
        kNotSupported,
        "the model uses a tensor that shares memory with a computed one but was not made from it "
        "by an operator (set_data, from_blob or raw pointers): the graph can not say what it is");
  }
  const auto registered = constant_names_.find(tensor.unsafeGetTensorImpl());
  const std::string name = registered != constant_names_.end()
                               ? registered->second
                               : fmt::format("lifted_tensor_{}", num_unnamed_constants_++);
  const ValueId value = add_value(tensor);
  constant_inputs_.push_back({InputKind::kConstant, name, value});
  constants_.insert(name, tensor.is_meta() ? tensor : tensor.detach().cpu().clone().contiguous());
  return value;
}

// The memory that a scratch view shows becomes the constant, and the view a node: what is written
// to one is seen through the other.
ValueId Recorder::replay_view(const at::Tensor& tensor, const View& view) {
  TracedNode node{view.op, {}, {}};
  for (const c10::IValue& argument : view.arguments) {
    node.arguments.push_back(trace_argument(argument));
  }
  node.outputs = {add_value(tensor)};
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().outputs[0];
}

ValueId Recorder::add_value(const at::Tensor& tensor) {
  const std::vector<int64_t> shape = tensor.sizes().vec();
  graph_.values.push_back({shape, tensor.scalar_type()});
  const ValueId value = graph_.values.size() - 1;
  keep_address(tensor);
  const bool is_new = values_.insert_or_assign(tensor.unsafeGetTensorImpl(), value).second;
  const c10::StorageImpl* storage = storage_of(tensor);
  if (is_new && storage != nullptr) {
    values_by_storage_[storage].push_back({tensor.unsafeGetTensorImpl(), tensor.scalar_type(),
                                           tensor.storage_offset(), tensor.sizes().vec(),
                                           tensor.strides().vec()});
  }
  return value;
}

void Recorder::keep_address(const at::Tensor& tensor) {
  tensors_.emplace_back(tensor.getIntrusivePtr());
  if (tensor.has_storage()) storages_.push_back(tensor.storage().getWeakStorageImpl());
}

// Scratch ends, for all views of its memory, when one of them becomes a value: what is written from
// then on must be recorded.
bool Recorder::is_scratch(const at::Tensor& tensor) const {
  return scratch_.contains(tensor.unsafeGetTensorImpl()) &&
         !values_by_storage_.contains(storage_of(tensor));
}

}  // namespace torch_ir
