// Puts the arguments of an operator call on a stack, in the order of the schema.
//
// The callback `value_of` returns the value for a name or number of the graph: a tensor or, if a
// node computes with sizes, a number.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>
#include <c10/util/FunctionRef.h>

#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// The values on `stack`, those of lists one by one.
std::vector<c10::IValue> flat_values(const torch::jit::Stack& stack);

// Returns the results of a call that are outputs of its node. A graph leaves out what an operator
// did not make, and numbers and dtypes that nothing reads. Throws ExecutionError if the others are
// not `num_outputs`.
std::vector<c10::IValue> output_values(const torch::jit::Stack& results, size_t num_outputs);

c10::IValue default_value(const c10::Argument& argument);

// Whether `argument` is a `Tensor?[]`.
bool takes_none(const c10::Argument& argument);

// As to_ivalue of ivalue.h, resolving references with `value_of`.
c10::IValue to_ivalue(const Attribute& attribute, const c10::Argument& argument,
                      c10::function_ref<c10::IValue(const ValueRef& ref)> value_of);

// Makes a `Tensor?[]` if `takes_none`, else a `Tensor[]`, calling `value_of` for each of `items`,
// which may be None.
template <class Items, class ValueOf>
c10::IValue make_tensor_list(const Items& items, bool takes_none, const ValueOf& value_of) {
  const auto fill = [&](auto list, auto none) -> c10::IValue {
    list.reserve(items.size());
    for (const auto& item : items) {
      c10::IValue value = value_of(item);
      if (value.isNone()) {
        list.push_back(none);
      } else {
        list.push_back(std::move(value).toTensor());
      }
    }
    return list;
  };
  if (takes_none) return fill(c10::List<std::optional<at::Tensor>>(), std::nullopt);
  return fill(c10::List<at::Tensor>(), at::Tensor());
}

// Converts `given`, a std::variant of an Attribute, a value of the graph, and a list of such values
// (std::optional, empty for None). `value_of` takes a value, and a ValueRef if attributes have any.
template <class Given, class ValueOf>
c10::IValue make_argument(const Given& given, const c10::Argument& argument,
                          const ValueOf& value_of) {
  const auto item_value = [&](const auto& item) { return item ? value_of(*item) : c10::IValue(); };
  const auto make = [&](const auto& it) -> c10::IValue {
    if constexpr (std::is_same_v<std::decay_t<decltype(it)>, Attribute>) {
      return to_ivalue(it, argument, value_of);
    } else if constexpr (requires { it.begin(); }) {
      return make_tensor_list(it, takes_none(argument), item_value);
    } else {
      return value_of(it);
    }
  };
  return std::visit(make, given);
}

// Makes the stack of a call: `find_given` returns what is given for an argument, as make_argument
// takes it, or null.
template <class FindGiven, class ValueOf>
torch::jit::Stack make_stack(const c10::FunctionSchema& schema, const FindGiven& find_given,
                             const ValueOf& value_of) {
  torch::jit::Stack stack;
  stack.reserve(schema.arguments().size());
  for (const c10::Argument& argument : schema.arguments()) {
    const auto* given = find_given(argument);
    stack.push_back(given == nullptr ? default_value(argument)
                                     : make_argument(*given, argument, value_of));
  }
  return stack;
}

}  // namespace torch_ir
