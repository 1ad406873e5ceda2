#include "torch_ir/exporter/pt2/decompose.h"

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/jit_type.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/ivalue.h"
#include "torch_ir/operators/argument_shapes.h"
#include "torch_ir/operators/dispatch_mode.h"

namespace torch_ir {
namespace {

using TensorMaker = std::function<at::Tensor(const std::string& name, const ValueMeta& meta)>;

Attribute one_of(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::ScalarType::Bool:
      return true;
    case c10::ScalarType::Double:
      return 1.0;
    default:
      return 1;
  }
}

constexpr c10::DispatchKey kCompositeKeys[] = {
    c10::DispatchKey::CompositeImplicitAutograd,
    c10::DispatchKey::CompositeExplicitAutograd,
    c10::DispatchKey::CompositeExplicitAutogradNonFunctional,
};

[[noreturn]] void refuse(const std::string& why) {
  throw ExportError(kNotSupported, fmt::format("torch.autocast casts inside of the operator, and "
                                               "{}; ExportedProgram.run_decompositions() "
                                               "before torch.export.save makes the casts explicit",
                                               why));
}

ValueMeta meta_of(const at::Tensor& tensor) { return {tensor.sizes().vec(), tensor.scalar_type()}; }

// A number that ATen turned into a tensor on its way.
std::optional<Attribute> number_of(const at::Tensor& tensor) {
  if (!tensor.unsafeGetTensorImpl()->is_wrapped_number()) return std::nullopt;
  const c10::Scalar value = tensor.item();
  if (value.isBoolean()) return Attribute(value.toBool());
  if (value.isIntegral(false)) return Attribute(value.toLong());
  if (value.isFloatingPoint()) return Attribute(value.toDouble());
  return std::nullopt;
}

// The tensors among results, those of lists in a row.
std::vector<at::Tensor> tensors_of(c10::ArrayRef<c10::IValue> results) {
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& value : results) {
    if (value.isTensor() && value.toTensor().defined()) tensors.push_back(value.toTensor());
    if (!value.isTensorList()) continue;
    for (const at::Tensor& tensor : value.toTensorVector()) tensors.push_back(tensor);
  }
  return tensors;
}

// Records calls; tensors are known by their address.
class CallRecorder final : public DispatchMode {
 public:
  explicit CallRecorder(GraphBuilder& builder) : builder_(builder) {}

  void name(const at::Tensor& tensor, const std::string& name) {
    alive_.push_back(tensor);
    names_[tensor.unsafeGetTensorImpl()] = name;
  }

  // Null when it has none.
  const std::string* find(const at::Tensor& tensor) const {
    const auto found = names_.find(tensor.unsafeGetTensorImpl());
    return found == names_.end() ? nullptr : &found->second;
  }

  void call(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) override {
    const auto& arguments = op.schema().arguments();
    const size_t first = stack->size() - arguments.size();
    Part part;
    part.node.target = op_type_name(op.operator_name());
    for (size_t i = 0; i < arguments.size(); ++i) {
      record_argument((*stack)[first + i], arguments[i], part.node);
    }
    op.callBoxed(stack);
    for (const at::Tensor& tensor : tensors_of(c10::ArrayRef<c10::IValue>(*stack).slice(first))) {
      add_output(tensor, part);
    }
    // A question about a tensor; the answer is in what is called next.
    if (part.node.outputs.empty() && !op.schema().is_mutable()) return;
    part.node.name = part.node.outputs.size() == 1 ? part.node.outputs[0]
                                                   : builder_.new_name(op_name(part.node.target));
    parts_.push_back(std::move(part));
  }

  std::vector<Part> take() { return std::move(parts_); }

 private:
  // "mm" of "aten.mm.default".
  static std::string op_name(const std::string& target) {
    const size_t begin = target.find('.') + 1;
    return target.substr(begin, target.find('.', begin) - begin);
  }

  void record_argument(const c10::IValue& value, const c10::Argument& argument,
                       ExportedNode& node) const {
    if (value.isNone()) return;
    if (value.isTensor()) {
      if (value.toTensor().defined()) {
        node.arguments.push_back({argument.name(), reference(value.toTensor())});
      }
    } else if (value.isTensorList() || is_list_with_tensors(value)) {
      node.arguments.push_back({argument.name(), references(value)});
    } else {
      node.arguments.push_back({argument.name(), to_attribute(value, *argument.real_type())});
    }
  }

  static bool is_list_with_tensors(const c10::IValue& value) {
    if (!value.isList()) return false;
    const auto items = value.toListRef();
    return std::ranges::any_of(items, [](const c10::IValue& item) { return item.isTensor(); });
  }

  decltype(ExportedArgument::value) reference(const at::Tensor& tensor) const {
    if (const std::string* name = find(tensor)) return ValueRef{*name};
    if (const auto number = number_of(tensor)) return *number;
    refuse("one of its parts takes a tensor of unknown origin");
  }

  ValueList references(const c10::IValue& value) const {
    ValueList list;
    for (const c10::IValue& item : value.toListRef()) {
      const std::string* name = item.isTensor() ? find(item.toTensor()) : nullptr;
      if (name == nullptr && item.isTensor() && item.toTensor().defined()) {
        refuse("one of its parts takes a tensor of unknown origin");
      }
      list.push_back(name == nullptr ? std::nullopt : std::optional(ValueRef{*name}));
    }
    return list;
  }

  void add_output(const at::Tensor& tensor, Part& part) {
    part.node.outputs.push_back(builder_.new_name(op_name(part.node.target)));
    part.outputs.push_back(meta_of(tensor));
    name(tensor, part.node.outputs.back());
  }

  GraphBuilder& builder_;
  std::vector<Part> parts_;
  std::unordered_map<const c10::TensorImpl*, std::string> names_;
  // So that no address is used twice.
  std::vector<at::Tensor> alive_;
};

at::Tensor make_zeros(const ValueMeta& meta, at::Device device) {
  int64_t elements = 1;
  for (const int64_t size : meta.shape) {
    if (size == kDynamicSize) refuse("its shapes are not known before it runs");
    if (__builtin_mul_overflow(elements, size, &elements) || elements > kMaxGrownElements) {
      refuse("it is too large to be taken apart");
    }
  }
  return at::zeros(meta.shape, at::TensorOptions(device).dtype(meta.dtype));
}

// On the meta device, where nothing is allocated: that sizes fit together, which not every kernel
// asks (oneDNN's LSTM reads behind weights that are too small), and that no part makes more than
// `limit` elements.
class SizeCheck final : public DispatchMode {
 public:
  explicit SizeCheck(int64_t limit) : limit_(limit) {}

  void call(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) override {
    const size_t first = stack->size() - op.schema().arguments().size();
    op.callBoxed(stack);
    for (const at::Tensor& tensor : tensors_of(c10::ArrayRef<c10::IValue>(*stack).slice(first))) {
      if (tensor.numel() > limit_) refuse("it is too large to be taken apart");
    }
  }

 private:
  int64_t limit_;
};

c10::DispatchKey composite_key(const c10::OperatorHandle& op) {
  for (const c10::DispatchKey key : kCompositeKeys) {
    if (op.hasKernelForDispatchKey(key)) return key;
  }
  refuse("it has no parts");
}

// Calls the composite kernel of `op`, watched by `mode`, and returns its results.
torch::jit::Stack run(const c10::OperatorHandle& op, torch::jit::Stack stack, DispatchMode& mode) {
  try {
    const c10::NoGradGuard no_grad;
    check_argument_shapes(op, stack);
    const DispatchModeGuard guard(mode);
    op.callBoxedForDispatchKey(composite_key(op), stack);
  } catch (const c10::Error& error) {
    refuse("it can not be run: " + printable(error.what_without_backtrace()));
  }
  return stack;
}

void check_sizes(const ExportedNode& node, const c10::OperatorHandle& op, int64_t limit,
                 const GraphBuilder& builder) {
  SizeCheck check(limit);
  run(op,
      make_stack(
          node, op.schema(), builder,
          [](const std::string&, const ValueMeta& meta) { return make_zeros(meta, at::kMeta); }),
      check);
}

using Renames = std::unordered_map<std::string, std::string>;

void rename(std::string& name, const Renames& renames) {
  if (const auto found = renames.find(name); found != renames.end()) name = found->second;
}

void rename(Part& part, const Renames& renames) {
  rename(part.node.name, renames);
  for (std::string& output : part.node.outputs) rename(output, renames);
  for (ExportedArgument& argument : part.node.arguments) {
    if (auto* ref = std::get_if<ValueRef>(&argument.value)) rename(ref->name, renames);
    if (auto* list = std::get_if<ValueList>(&argument.value)) {
      for (auto& item : *list) {
        if (item) rename(item->name, renames);
      }
    }
  }
}

Renames output_names(const ExportedNode& node, const torch::jit::Stack& results,
                     const CallRecorder& recorder, const GraphBuilder& builder) {
  const std::vector<at::Tensor> tensors = tensors_of(results);
  if (tensors.size() != node.outputs.size()) refuse("it makes another number of outputs here");
  Renames renames;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string* made = recorder.find(tensors[i]);
    const bool is_new = made != nullptr && builder.find(*made) == nullptr;
    if (!is_new || !renames.emplace(*made, node.outputs[i]).second) {
      refuse("one of its outputs is not made by one of its parts");
    }
  }
  return renames;
}

}  // namespace

torch::jit::Stack make_stack(const ExportedNode& node, const c10::FunctionSchema& schema,
                             const GraphBuilder& builder, const TensorMaker& make_tensor) {
  const auto tensor = [&](const ValueRef& ref) {
    return make_tensor(ref.name, *builder.find(ref.name));
  };
  const auto number = [&](const ValueRef& ref) { return one_of(builder.find(ref.name)->dtype); };
  torch::jit::Stack stack;
  for (const c10::Argument& argument : schema.arguments()) {
    const auto given = std::ranges::find(node.arguments, argument.name(), &ExportedArgument::name);
    if (given == node.arguments.end()) {
      stack.push_back(argument.default_value().value_or(c10::IValue()));
    } else if (const auto* ref = std::get_if<ValueRef>(&given->value)) {
      stack.emplace_back(tensor(*ref));
    } else if (const auto* values = std::get_if<ValueList>(&given->value)) {
      const auto* type = argument.type()->castRaw<c10::ListType>();
      c10::impl::GenericList list(type == nullptr ? c10::TypePtr(c10::TensorType::get())
                                                  : type->getElementType());
      for (const auto& value : *values) {
        list.push_back(value ? c10::IValue(tensor(*value)) : c10::IValue());
      }
      stack.emplace_back(std::move(list));
    } else {
      stack.push_back(to_ivalue(with_values(std::get<Attribute>(given->value), number), argument));
    }
  }
  return stack;
}

std::vector<Part> decompose(const ExportedNode& node, const c10::OperatorHandle& op, bool may_grow,
                            GraphBuilder& builder) {
  check_sizes(node, op, may_grow ? kMaxGrownElements : std::numeric_limits<int64_t>::max(),
              builder);
  CallRecorder recorder(builder);
  std::unordered_map<std::string, at::Tensor> tensors;
  torch::jit::Stack stack =
      make_stack(node, op.schema(), builder, [&](const std::string& name, const ValueMeta& meta) {
        const auto [entry, is_new] = tensors.try_emplace(name);
        if (is_new) {
          entry->second = make_zeros(meta, at::kCPU);
          recorder.name(entry->second, name);
        }
        return entry->second;
      });
  const torch::jit::Stack results = run(op, std::move(stack), recorder);
  const Renames renames = output_names(node, results, recorder, builder);
  std::vector<Part> parts = recorder.take();
  for (Part& part : parts) rename(part, renames);
  return parts;
}

}  // namespace torch_ir
