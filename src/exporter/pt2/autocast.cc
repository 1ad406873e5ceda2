#include "torch_ir/exporter/pt2/autocast.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/dispatch_mode.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/ivalue.h"

namespace torch_ir {
namespace {

constexpr c10::DispatchKey kAutocastKey = c10::DispatchKey::AutocastCPU;

// The thread casts to `dtype` while the guard lives.
class AutocastDtypeGuard {
 public:
  explicit AutocastDtypeGuard(c10::ScalarType dtype)
      : previous_(at::autocast::get_autocast_dtype(at::kCPU)) {
    at::autocast::set_autocast_dtype(at::kCPU, dtype);
  }
  ~AutocastDtypeGuard() { at::autocast::set_autocast_dtype(at::kCPU, previous_); }
  AutocastDtypeGuard(const AutocastDtypeGuard&) = delete;
  AutocastDtypeGuard& operator=(const AutocastDtypeGuard&) = delete;

 private:
  c10::ScalarType previous_;
};

// Ends a call when the operator is reached behind autocast, with the arguments that arrive there.
class Arrival final : public DispatchMode {
 public:
  struct Reached {
    torch::jit::Stack arguments;
  };

  explicit Arrival(const c10::OperatorHandle& op) : op_(op) {}

  void call(const c10::OperatorHandle& op, torch::jit::Stack* stack) override {
    if (op.operator_name() != op_.operator_name()) return op.callBoxed(stack);
    throw Reached{*stack};
  }

 private:
  const c10::OperatorHandle& op_;
};

// Values that stand in for those of the graph: a tensor of one element with as many dimensions, or
// a number.
class StandIns {
 public:
  explicit StandIns(const GraphBuilder& builder) : builder_(builder) {}

  at::Tensor tensor(const ValueRef& ref) const {
    const ValueMeta& meta = *builder_.find(ref.name);
    return at::zeros(std::vector<int64_t>(meta.shape.size(), 1), meta.dtype);
  }

  Attribute numbers(const Attribute& attribute) const {
    return with_values(attribute, [&](const ValueRef& ref) -> Attribute {
      switch (builder_.find(ref.name)->dtype) {
        case c10::ScalarType::Bool:
          return true;
        case c10::ScalarType::Double:
          return 1.0;
        default:
          return 1;
      }
    });
  }

 private:
  const GraphBuilder& builder_;
};

c10::IValue make_list(const ValueList& values, const c10::Type& type, const StandIns& stand_ins) {
  const c10::TypePtr element = type.castRaw<c10::ListType>() == nullptr
                                   ? c10::TypePtr(c10::TensorType::get())
                                   : type.castRaw<c10::ListType>()->getElementType();
  c10::impl::GenericList list(element);
  for (const auto& value : values) {
    list.push_back(value ? c10::IValue(stand_ins.tensor(*value)) : c10::IValue());
  }
  return list;
}

c10::IValue make_argument(const ExportedArgument* given, const c10::Argument& argument,
                          const StandIns& stand_ins) {
  if (given == nullptr) return argument.default_value().value_or(c10::IValue());
  if (const auto* ref = std::get_if<ValueRef>(&given->value)) return stand_ins.tensor(*ref);
  if (const auto* list = std::get_if<ValueList>(&given->value)) {
    return make_list(*list, *argument.type(), stand_ins);
  }
  return to_ivalue(stand_ins.numbers(std::get<Attribute>(given->value)), argument);
}

ExportedArgument* find_argument(ExportedNode& node, const std::string& name) {
  const auto found = std::ranges::find(node.arguments, name, &ExportedArgument::name);
  return found == node.arguments.end() ? nullptr : &*found;
}

// What arrives behind autocast.
torch::jit::Stack arguments_behind(ExportedNode& node, const c10::OperatorHandle& op,
                                   c10::ScalarType dtype, const GraphBuilder& builder) {
  const StandIns stand_ins(builder);
  torch::jit::Stack stack;
  for (const c10::Argument& argument : op.schema().arguments()) {
    stack.push_back(make_argument(find_argument(node, argument.name()), argument, stand_ins));
  }
  Arrival arrival(op);
  try {
    const AutocastDtypeGuard autocast(dtype);
    const DispatchModeGuard guard(arrival);
    op.callBoxedForDispatchKey(kAutocastKey, stack);
  } catch (Arrival::Reached& reached) {
    return std::move(reached.arguments);
  } catch (const c10::Error& error) {
    throw ExportError(fmt::format("autocast refuses the operator: {}",
                                  printable(error.what_without_backtrace())));
  }
  throw ExportError("autocast replaces the operator by others, which is not supported");
}

// The name of `ref`'s value as `dtype`: its own, or that of a cast.
ValueRef cast(const ValueRef& ref, c10::ScalarType dtype, GraphBuilder& builder) {
  ValueMeta meta = *builder.find(ref.name);
  if (meta.dtype == dtype) return ref;
  meta.dtype = dtype;
  return {builder.add_value(ref.name + "_" + dtype_name(dtype), "aten.to.dtype",
                            {{"self", ref}, {"dtype", Attribute(dtype)}}, meta)};
}

void cast_argument(ExportedArgument& argument, const c10::IValue& arrived, GraphBuilder& builder) {
  if (auto* ref = std::get_if<ValueRef>(&argument.value)) {
    *ref = cast(*ref, arrived.toTensor().scalar_type(), builder);
  } else if (auto* list = std::get_if<ValueList>(&argument.value)) {
    const auto items = arrived.toListRef();
    for (size_t i = 0; i < list->size(); ++i) {
      auto& item = (*list)[i];
      if (item) item = cast(*item, items[i].toTensor().scalar_type(), builder);
    }
  }
}

// Whether the value called `name` has `dtype`.
bool has_dtype(const std::string& name, c10::ScalarType dtype, const GraphBuilder& builder) {
  return builder.find(name)->dtype == dtype;
}

bool takes_dtype(const ExportedNode& node, c10::ScalarType dtype, const GraphBuilder& builder) {
  return std::ranges::any_of(node.arguments, [&](const ExportedArgument& argument) {
    if (const auto* ref = std::get_if<ValueRef>(&argument.value)) {
      return has_dtype(ref->name, dtype, builder);
    }
    if (const auto* list = std::get_if<ValueList>(&argument.value)) {
      return std::ranges::any_of(*list, [&](const auto& item) {
        return item && has_dtype(item->name, dtype, builder);
      });
    }
    const auto* fixed = std::get<Attribute>(argument.value).get_if<c10::ScalarType>();
    return fixed != nullptr && *fixed == dtype;
  });
}

// An operator without a rule that makes the dtype of autocast out of nothing consists of others that
// have rules.
void check_unaffected(const ExportedNode& node, const std::vector<ValueMeta>& outputs,
                      c10::ScalarType dtype, const GraphBuilder& builder) {
  const bool makes_dtype = std::ranges::any_of(
      outputs, [&](const ValueMeta& output) { return output.dtype == dtype; });
  if (!makes_dtype || takes_dtype(node, dtype, builder)) return;
  throw ExportError(fmt::format(
      "torch.autocast casts inside of the operator, to {}, which is not supported; "
      "ExportedProgram.run_decompositions() before torch.export.save makes it explicit",
      dtype_name(dtype)));
}

}  // namespace

void cast_arguments(ExportedNode& node, const std::vector<ValueMeta>& outputs,
                    c10::ScalarType dtype, GraphBuilder& builder) {
  const auto op = find_operator(node.target);
  if (!op) return;
  if (!op->hasKernelForDispatchKey(kAutocastKey)) {
    return check_unaffected(node, outputs, dtype, builder);
  }
  const torch::jit::Stack arrived = arguments_behind(node, *op, dtype, builder);
  const auto& arguments = op->schema().arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    ExportedArgument* given = find_argument(node, arguments[i].name());
    if (given != nullptr) cast_argument(*given, arrived[i], builder);
  }
}

}  // namespace torch_ir
