#include "torch_ir/operators/operator_effects.h"

#include <algorithm>

#include "torch_ir/operators/operator_table.h"

namespace torch_ir {
namespace {

bool is_annotated(const c10::Argument& argument) { return argument.alias_info() != nullptr; }

// Of a list the annotation may be on the list or on what it holds.
bool is_write(const c10::AliasInfo& info) {
  return info.isWrite() || std::any_of(info.containedTypes().begin(), info.containedTypes().end(),
                                       [](const c10::AliasInfo& inner) { return is_write(inner); });
}

OperatorEffects effects_of_schema(const c10::OperatorHandle& op) {
  const c10::FunctionSchema& schema = op.schema();
  const bool returns_are_annotated =
      std::any_of(schema.returns().begin(), schema.returns().end(), is_annotated);
  const bool shares_silently = may_share_silently(op);
  OperatorEffects effects;
  for (const c10::Argument& argument : schema.arguments()) {
    const c10::AliasInfo* info = argument.alias_info();
    effects.writes.push_back(info != nullptr && is_write(*info));
    effects.shares.push_back((returns_are_annotated && info != nullptr) ||
                             (shares_silently && !returns_are_annotated));
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

const OperatorEffects& EffectsTable::of(const c10::OperatorHandle& op,
                                        c10::function_ref<bool(size_t)> may_be_true) {
  const c10::FunctionSchema& schema = op.schema();
  const auto [found, is_new] = by_schema_.try_emplace(&schema);
  if (is_new) found->second = effects_of_schema(op);
  const auto condition = statistics_condition(op);
  if (!condition) return found->second;
  const auto flag = schema.argumentIndexWithName(*condition);
  if (flag && !may_be_true(static_cast<size_t>(*flag))) return found->second;
  return of_call_ = writing_statistics(found->second, schema);
}

}  // namespace torch_ir
