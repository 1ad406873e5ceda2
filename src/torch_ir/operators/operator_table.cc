#include "torch_ir/operators/operator_table.h"

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/enum_tag.h>
#include <torch/version.h>

#include <algorithm>
#include <utility>

#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/builtin_operators.h"
#include "torch_ir/operators/number_functions.h"
#include "torch_ir/operators/op_handler_registry.h"
#include "torch_ir/operators/operator_effects.h"
#include "torch_ir/operators/operator_facts.h"

namespace torch_ir {
namespace {

bool indexes_by_numbers(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments) {
  if (!facts_of(op).takes_masks || !arguments[1].isList()) return false;
  return std::ranges::none_of(arguments[1].toListRef(), [](const c10::IValue& index) {
    if (!index.isTensor() || !index.toTensor().defined()) return false;
    const c10::ScalarType dtype = index.toTensor().scalar_type();
    return dtype == c10::kBool || dtype == c10::kByte;
  });
}

constexpr std::pair<std::string_view, const char*> kRefusals[] = {
    {"maps_file", "it maps a file, and may create one"},
    {"undeclared_write", "it changes an input without declaring it"},
    {"unchecked_indices", "it trusts unchecked indices"},
    {"unchecked_shapes", "it trusts unchecked shapes"},
    {"writes_file", "it writes a file"},
    {"reads_file", "it reads a file"},
    {"other_processes", "it talks to other processes"},
    {"tests_libtorch", "it exists to test LibTorch itself"},
    {"recording", "it changes what the process records"},
    {"compiled_memory", "it works on the memory of compiled code"},
};

// In the order in which the dispatcher prefers them.
constexpr std::pair<c10::DispatchKey, const char*> kKernelKinds[] = {
    {c10::DispatchKey::CPU, "kernel for CPU"},
    {c10::DispatchKey::CompositeExplicitAutograd, "composite of other operators"},
    {c10::DispatchKey::CompositeImplicitAutograd, "composite of other operators"},
    {c10::DispatchKey::CompositeExplicitAutogradNonFunctional, "composite of other operators"},
    {c10::DispatchKey::BackendSelect, "kernel for the given device"},
};

std::string how_replayed(const c10::OperatorHandle& op) {
  if (facts_of(op).replaces_memory) return "no: it replaces the memory of a tensor";
  if (facts_of(op).has_known_shape) return "unless its result depends on data";
  if (may_depend_on_data(op)) return "no: its result depends on data";
  return op.hasTag(at::Tag::nondeterministic_seeded) ? "unless it draws random numbers" : "yes";
}

// Whether results may share memory with arguments without an annotation in the schema.
bool may_share_silently(const c10::OperatorHandle& op) {
  return facts_of(op).shares_memory ||
         (op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) &&
          !facts_of(op).returns_new_tensor);
}

OperatorEffects effects_of_schema(const c10::OperatorHandle& op) {
  const c10::FunctionSchema& schema = op.schema();
  const bool returns_are_annotated =
      std::ranges::any_of(schema.returns(), &c10::Argument::alias_info);
  const bool shares_silently = may_share_silently(op);
  OperatorEffects effects;
  for (const c10::Argument& argument : schema.arguments()) {
    const c10::AliasInfo* info = argument.alias_info();
    effects.writes.push_back(info != nullptr && is_write(*info));
    effects.shares.push_back(returns_are_annotated ? info != nullptr : shares_silently);
  }
  return effects;
}

OperatorEffects writing_statistics(OperatorEffects effects, const c10::FunctionSchema& schema) {
  for (const char* const name : {"running_mean", "running_var"}) {
    if (const auto index = schema.argumentIndexWithName(name)) {
      effects.writes[static_cast<size_t>(*index)] = true;
    }
  }
  return effects;
}

}  // namespace

bool may_be_composite(const c10::OperatorHandle& op) {
  return facts_of(op).is_composite || !op.hasKernelForDispatchKey(c10::DispatchKey::CPU);
}

bool holds_tensors(const c10::TypePtr& type) {
  return type->kind() == c10::TypeKind::TensorType ||
         std::ranges::any_of(type->containedTypes(), holds_tensors);
}

bool may_depend_on_data(const c10::OperatorHandle& op) {
  const OperatorFacts& facts = facts_of(op);
  return facts.depends_on_data || (!facts.has_known_shape && depends_on_data(op, {}));
}

bool depends_on_data(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments) {
  return op.hasTag(at::Tag::data_dependent_output) ||
         (op.hasTag(at::Tag::dynamic_output_shape) && !indexes_by_numbers(op, arguments));
}

std::string refusal(std::string_view op_type) {
  const std::string_view name = facts_of(op_type).refusal;
  for (const auto& [reason, sentence] : kRefusals) {
    if (reason == name) return sentence;
  }
  return "";
}

bool may_draw(std::string_view op_type) {
  const auto op = find_operator(op_type);
  return num_graphs_of(op_type) > 0 || (op && op->hasTag(at::Tag::nondeterministic_seeded));
}

bool is_view(const c10::FunctionSchema& schema) {
  const auto is_aliased = [](const c10::Argument& result) {
    return result.alias_info() != nullptr && !result.alias_info()->isWrite();
  };
  return !schema.returns().empty() && std::ranges::all_of(schema.returns(), is_aliased);
}

OperatorSupport operator_support(const std::string& op_type) {
  if (const OpHandler handler = find_op_handler(op_type)) {
    return {true, "registered op handler",
            returns_input(handler) ? "yes" : "no: it has a registered op handler"};
  }
  if (find_number_function(op_type) != nullptr) return {true, "function on numbers", "yes"};
  if (num_graphs_of(op_type) > 0) return {true, "control flow", "no: only its graphs are"};
  if (const std::string reason = refusal(op_type); !reason.empty()) {
    return {false, "refused: " + reason, ""};
  }
  const auto op = find_operator(op_type);
  if (!op) return {false, "unknown to LibTorch " TORCH_VERSION, ""};
  for (const auto& [key, description] : kKernelKinds) {
    if (op->hasKernelForDispatchKey(key)) return {true, description, how_replayed(*op)};
  }
  return {false, "no kernel for CPU", ""};
}

bool is_write(const c10::AliasInfo& annotation) {
  return annotation.isWrite() || std::ranges::any_of(annotation.containedTypes(), is_write);
}

bool writes_by_name(std::string_view op_type) {
  const auto name = parse_op_type(op_type);
  return name && name->name.ends_with('_');
}

const OperatorEffects& EffectsTable::of(const c10::OperatorHandle& op,
                                        c10::function_ref<bool(size_t)> may_be_true) {
  const c10::FunctionSchema& schema = op.schema();
  const auto [found, is_new] = by_schema_.try_emplace(&schema);
  if (is_new) found->second = effects_of_schema(op);
  const std::string_view condition = facts_of(op).updates_statistics;
  if (condition.empty()) return found->second;
  const auto flag = schema.argumentIndexWithName(condition);
  if (flag && !may_be_true(static_cast<size_t>(*flag))) return found->second;
  return of_call_ = writing_statistics(found->second, schema);
}

}  // namespace torch_ir
