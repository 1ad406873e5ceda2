#include "torch_ir/exporter/pt2/autocast.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/decompose.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/operators/dispatch_mode.h"

namespace torch_ir {
namespace {

constexpr c10::DispatchKey kAutocastKey = c10::DispatchKey::AutocastCPU;

// The thread autocasts to `dtype` while the guard lives.
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

// Ends a call when the operator is reached behind autocast, with the arguments that arrive there.
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

ExportedArgument* find_argument(ExportedNode& node, const std::string& name) {
  const auto found = std::ranges::find(node.arguments, name, &ExportedArgument::name);
  return found == node.arguments.end() ? nullptr : &*found;
}

// What arrives behind autocast. Which arguments are cast does not depend on shapes.
torch::jit::Stack arguments_behind(const ExportedNode& node, const c10::OperatorHandle& op,
                                   c10::ScalarType dtype, const GraphBuilder& builder) {
  torch::jit::Stack stack =
      make_stack(node, op.schema(), builder, [](const std::string&, const ValueMeta& meta) {
        return at::zeros(std::vector<int64_t>(meta.shape.size(), 1), meta.dtype);
      });
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
      return std::ranges::any_of(
          *list, [&](const auto& item) { return item && has_dtype(item->name, dtype, builder); });
    }
    const auto* fixed = std::get<Attribute>(argument.value).get_if<c10::ScalarType>();
    return fixed != nullptr && *fixed == dtype;
  });
}

bool is_one_of(const std::string& op_type, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return op_type.starts_with(prefix); });
}

constexpr std::string_view kRecurrent[] = {"aten.lstm", "aten.gru", "aten.rnn_tanh",
                                           "aten.rnn_relu"};
// Their outputs do not show that something is cast inside.
constexpr std::string_view kBilinear[] = {"aten.bilinear", "aten._trilinear"};

// Whether autocast casts inside of an operator without a rule: its dtype comes out where none goes
// in.
bool casts_inside(const ExportedNode& node, const std::vector<ValueMeta>& outputs,
                  c10::ScalarType dtype, const GraphBuilder& builder) {
  if (is_one_of(node.target, kRecurrent) || is_one_of(node.target, kBilinear)) return true;
  const bool makes_dtype =
      std::ranges::any_of(outputs, [&](const ValueMeta& output) { return output.dtype == dtype; });
  return makes_dtype && !takes_dtype(node, dtype, builder);
}

void cast_arguments(ExportedNode& node, const c10::OperatorHandle& op, c10::ScalarType dtype,
                    GraphBuilder& builder) {
  const torch::jit::Stack arrived = arguments_behind(node, op, dtype, builder);
  const auto& arguments = op.schema().arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    ExportedArgument* given = find_argument(node, arguments[i].name());
    if (given != nullptr) cast_argument(*given, arrived[i], builder);
  }
}

}  // namespace

void add_under_autocast(ExportedNode node, const std::vector<ValueMeta>& outputs,
                        c10::ScalarType dtype, GraphBuilder& builder) {
  const auto op = find_operator(node.target);
  if (op && op->hasKernelForDispatchKey(kAutocastKey)) {
    cast_arguments(node, *op, dtype, builder);
  } else if (op && casts_inside(node, outputs, dtype, builder)) {
    const AutocastGuard autocast(dtype);
    for (Part& part : decompose(node, *op, !is_one_of(node.target, kRecurrent), builder)) {
      add_under_autocast(std::move(part.node), part.outputs, dtype, builder);
    }
    return;
  }
  builder.add_node(std::move(node), outputs);
}

}  // namespace torch_ir
