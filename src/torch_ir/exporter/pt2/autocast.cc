#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/Exception.h>
#include <c10/util/ScopeExit.h>
#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/graph_reader.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/stack.h"
#include "torch_ir/operators/dispatch_mode.h"
#include "torch_ir/operators/operator_facts.h"

namespace torch_ir {
namespace {

// Python's autocast casts arguments when the operator runs. To find out which ones, this file calls
// the operator with autocast on and looks at the arguments that autocast passes on.

const c10::OperatorName kCast("aten::to", "dtype");

c10::DispatchKey key_of(const Autocast& autocast) {
  return autocast.device == c10::kCPU ? c10::DispatchKey::AutocastCPU
                                      : c10::DispatchKey::AutocastCUDA;
}

// Turns autocast on until the result ends.
auto enable_autocast(const Autocast& autocast) {
  const c10::DeviceType device = autocast.device;
  auto restore =
      c10::make_scope_exit([device, was_enabled = at::autocast::is_autocast_enabled(device),
                            previous = at::autocast::get_autocast_dtype(device)] {
        at::autocast::set_autocast_enabled(device, was_enabled);
        at::autocast::set_autocast_dtype(device, previous);
      });
  at::autocast::set_autocast_dtype(device, autocast.dtype);
  at::autocast::set_autocast_enabled(device, true);
  return restore;
}

// A tensor without memory that says it is on `device`, which need not be there.
at::Tensor pretended(at::IntArrayRef sizes, c10::ScalarType dtype, c10::DeviceType device) {
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::DispatchKeySet(device == c10::kCPU ? c10::DispatchKey::CPU : c10::DispatchKey::CUDA),
      c10::scalarTypeToTypeMeta(dtype), c10::Device(device, device == c10::kCPU ? -1 : 0));
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  return tensor;
}

// Ends a call when it has passed autocast, and keeps its arguments. Casts make tensors without
// values.
class Arrival final : public DispatchMode {
 public:
  struct Reached {
    torch::jit::Stack arguments;
  };

  explicit Arrival(const c10::OperatorHandle& op) : op_(op) {}

  void call(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) override {
    if (op.operator_name() == op_.operator_name()) throw Reached{*stack};
    if (op.operator_name() != kCast) return op.callBoxed(stack);
    const std::vector<c10::IValue> arguments =
        torch::jit::pop(*stack, op.schema().arguments().size());
    const at::Tensor& self = arguments[0].toTensor();
    torch::jit::push(*stack,
                     pretended(self.sizes(), arguments[1].toScalarType(), self.device().type()));
  }

 private:
  const c10::OperatorHandle& op_;
};

// Tensors of the same rank in place of the graph's values, as casts do not depend on shapes.
struct StandIns {
  const GraphBuilder& builder;
  const c10::DeviceType device;

  c10::IValue operator()(ValueId id) const {
    const Value& value = builder.graph()[id];
    if (!value.is_scalar) {
      return pretended(std::vector<int64_t>(value.shape.size(), 1), value.dtype, device);
    }
    if (value.dtype == c10::ScalarType::Bool) return true;
    return value.dtype == c10::ScalarType::Double ? c10::IValue(1.0) : c10::IValue(1);
  }
  c10::IValue operator()(const ValueRef& ref) const { return (*this)(*builder.find(ref.name)); }
};

template <class AnyNode>
auto find_argument(AnyNode& node, const std::string& name) {
  const auto found = std::ranges::find(node.arguments, name, &Argument::name);
  return found == node.arguments.end() ? nullptr : &found->value;
}

torch::jit::Stack arguments_behind(const Node& node, const c10::OperatorHandle& op,
                                   const Autocast& autocast, const GraphBuilder& builder) {
  const auto find_given = [&](const c10::Argument& argument) {
    return find_argument(node, argument.name());
  };
  torch::jit::Stack stack = make_stack(op.schema(), find_given, StandIns{builder, autocast.device});
  Arrival arrival(op);
  try {
    const auto enabled = enable_autocast(autocast);
    const DispatchModeGuard guard(arrival);
    op.callBoxedForDispatchKey(key_of(autocast), stack);
  } catch (Arrival::Reached& reached) {
    return std::move(reached.arguments);
  } catch (const c10::Error& error) {
    throw ExportError(kNotSupported, fmt::format("autocast refuses the operator: {}",
                                                 printable(error.what_without_backtrace())));
  }
  throw ExportError(kNotSupported,
                    "autocast replaces the operator by others, which is not supported");
}

ValueId cast(ValueId id, c10::ScalarType dtype, GraphBuilder& builder) {
  Value value = builder.graph()[id];
  if (value.dtype == dtype) return id;
  value.dtype = dtype;
  value.name = builder.new_name(value.name + "_" + dtype_name(dtype));
  return builder.add_value("aten.to.dtype", {{"self", id}, {"dtype", Attribute(dtype)}},
                           std::move(value));
}

bool takes_dtype(const Node& node, c10::ScalarType dtype, const GraphBuilder& builder) {
  bool takes = false;
  for (const Argument& argument : node.arguments) {
    for_each_value(argument, [&](ValueId id) { takes |= builder.graph()[id].dtype == dtype; });
    const auto* fixed = std::get_if<Attribute>(&argument.value);
    takes |= fixed != nullptr && *fixed == Attribute(dtype);
  }
  return takes;
}

// Whether autocast casts inside of an operator without a rule: only its outputs have that dtype.
bool casts_inside(const Node& node, const std::vector<Value>& outputs, c10::ScalarType dtype,
                  const GraphBuilder& builder) {
  const bool makes_dtype = std::ranges::find(outputs, dtype, &Value::dtype) != outputs.end();
  return facts_of(node.target).casts_under_autocast ||
         (makes_dtype && !takes_dtype(node, dtype, builder));
}

void cast_arguments(Node& node, const c10::OperatorHandle& op, const Autocast& autocast,
                    GraphBuilder& builder) {
  const torch::jit::Stack arrived = arguments_behind(node, op, autocast, builder);
  const auto& schema = op.schema().arguments();
  for (size_t i = 0; i < schema.size(); ++i) {
    auto* argument = find_argument(node, schema[i].name());
    // Some operators are asked for the dtype of their result instead.
    const bool is_none = argument == nullptr || *argument == Operand(Attribute());
    if (is_none && schema[i].name() == "dtype" && arrived[i].isInt()) {
      std::erase_if(node.arguments, [](const Argument& known) { return known.name == "dtype"; });
      node.arguments.push_back({"dtype", Attribute(arrived[i].toScalarType())});
      continue;
    }
    if (argument == nullptr) continue;
    if (auto* id = std::get_if<ValueId>(argument)) {
      *id = cast(*id, arrived[i].toTensor().scalar_type(), builder);
    } else if (auto* list = std::get_if<ValueList>(argument)) {
      const auto items = arrived[i].toListRef();
      for (size_t k = 0; k < list->size(); ++k) {
        auto& item = (*list)[k];
        if (item) item = cast(*item, items[k].toTensor().scalar_type(), builder);
      }
    }
  }
}

}  // namespace

std::vector<ValueId> add_under_autocast(Node node, std::vector<Value> outputs,
                                        const Autocast& autocast, GraphBuilder& builder) {
  const auto op = find_operator(node.target);
  if (op && op->hasKernelForDispatchKey(key_of(autocast))) {
    cast_arguments(node, *op, autocast, builder);
  } else if (op && casts_inside(node, outputs, autocast.dtype, builder)) {
    throw ExportError(
        kNotSupported,
        "torch.autocast casts inside of the operator, which is not supported; call it outside of "
        "the region, or cast its arguments in the model");
  }
  return builder.add_node(std::move(node), std::move(outputs));
}

}  // namespace torch_ir
