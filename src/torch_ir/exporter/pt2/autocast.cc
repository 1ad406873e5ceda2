#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
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

constexpr c10::DispatchKey kAutocastKey = c10::DispatchKey::AutocastCPU;

class AutocastGuard {
 public:
  explicit AutocastGuard(c10::ScalarType dtype)
      : was_enabled_(at::autocast::is_autocast_enabled(at::kCPU)),
        previous_(at::autocast::get_autocast_dtype(at::kCPU)) {
    at::autocast::set_autocast_dtype(at::kCPU, dtype);
    at::autocast::set_autocast_enabled(at::kCPU, true);
  }
  ~AutocastGuard() {
    at::autocast::set_autocast_enabled(at::kCPU, was_enabled_);
    at::autocast::set_autocast_dtype(at::kCPU, previous_);
  }
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  bool was_enabled_;
  c10::ScalarType previous_;
};

// Ends a call when it has passed autocast, and keeps its arguments.
class Arrival final : public DispatchMode {
 public:
  struct Reached {
    torch::jit::Stack arguments;
  };

  explicit Arrival(const c10::OperatorHandle& op) : op_(op) {}

  void call(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) override {
    if (op.operator_name() != op_.operator_name()) return op.callBoxed(stack);
    throw Reached{*stack};
  }

 private:
  const c10::OperatorHandle& op_;
};

// Ones of the same rank in place of the graph's values, as casts do not depend on shapes.
struct Ones {
  const GraphBuilder& builder;

  c10::IValue operator()(ValueId id) const {
    const Value& value = builder.graph()[id];
    if (!value.is_scalar) {
      return at::ones(std::vector<int64_t>(value.shape.size(), 1), at::dtype(value.dtype));
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
                                   c10::ScalarType dtype, const GraphBuilder& builder) {
  const auto find_given = [&](const c10::Argument& argument) {
    return find_argument(node, argument.name());
  };
  torch::jit::Stack stack = make_stack(op.schema(), find_given, Ones{builder});
  Arrival arrival(op);
  try {
    const AutocastGuard autocast(dtype);
    const DispatchModeGuard guard(arrival);
    op.callBoxedForDispatchKey(kAutocastKey, stack);
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

void cast_arguments(Node& node, const c10::OperatorHandle& op, c10::ScalarType dtype,
                    GraphBuilder& builder) {
  const torch::jit::Stack arrived = arguments_behind(node, op, dtype, builder);
  const auto& schema = op.schema().arguments();
  for (size_t i = 0; i < schema.size(); ++i) {
    auto* argument = find_argument(node, schema[i].name());
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
                                        c10::ScalarType dtype, GraphBuilder& builder) {
  const auto op = find_operator(node.target);
  if (op && op->hasKernelForDispatchKey(kAutocastKey)) {
    cast_arguments(node, *op, dtype, builder);
  } else if (op && casts_inside(node, outputs, dtype, builder)) {
    throw ExportError(
        kNotSupported,
        "torch.autocast casts inside of the operator, which is not supported; call it outside of "
        "the region, or cast its arguments in the model");
  }
  return builder.add_node(std::move(node), std::move(outputs));
}

}  // namespace torch_ir
