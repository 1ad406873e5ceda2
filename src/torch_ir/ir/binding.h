// Binding: matches the inputs and attributes of a node to the arguments of its operator.
//
// A node's inputs are flat (tensors in schema order, absent ones left out), as the Python package
// writes them. Only this file knows the rules, in both directions: `encode_arguments` makes inputs
// and attributes from the arguments of a call, `bind_node` finds the arguments again.
//
// The rules:
// - Tensor arguments take inputs in schema order. One that was given a number instead has an
//   attribute with its name and takes no input.
// - A list of tensors takes as many inputs as its count in the attribute "_tensor_list_sizes",
//   which has one count for each given list, in schema order. For lists that hold None,
//   "_tensor_list_none_masks" has a mask per list, true for None; None takes no input.
// - If only some optional tensors are given, each carries `TensorMeta::arg`, the name of its
//   argument. Files of the Python package lack it: there, a weight whose name ends in an argument's
//   name ("p_norm_bias") is that argument, and remaining ambiguity is an error.
// - All other arguments are attributes under their schema names; absent ones have their default.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

// "aten.conv2d.default" for aten::conv2d, "aten.add.Tensor" for aten::add.Tensor.
std::string op_type_name(const c10::OperatorName& name);

// The inverse of op_type_name; nothing unless `op_type` has the form NAMESPACE.NAME.OVERLOAD.
std::optional<c10::OperatorName> parse_op_type(std::string_view op_type);

// Defines the operators of the namespace of a name ("prims::add") when they are first looked up.
// Set before main, by python_operators.
using DefineOperators = void (*)(std::string_view name);
void set_operator_definitions(DefineOperators define);

// The operator called `op_type` in this process, or nothing.
std::optional<c10::OperatorHandle> find_operator(std::string_view op_type);

// How to get the operator `op_type` ("prims.xor_sum.default"), which the dispatcher lacks: "load
// the library that defines it (--load-library)", unless only Python can define it.
std::string_view advice_about_unknown(std::string_view op_type);

// The schema of `op_type`, an operator of this process or a built-in one (builtin_operators.h), or
// null. Schemas live as long as their operators.
const c10::FunctionSchema* find_schema(std::string_view op_type);

// Binds nodes that call the operator of `schema`, which must outlive the binder. Reuse it for many
// nodes: it caches what it learns about the operator.
class OperatorBinder {
 public:
  explicit OperatorBinder(const c10::FunctionSchema& schema);

  // Returns the arguments that are given, in the order of the schema; `inputs` are the values of
  // the node's inputs. Throws ValidationError, naming node, operator and argument, if inputs are
  // missing or left over, an attribute is unknown, or a required argument is absent.
  std::vector<Argument> bind(const OpNode& node, const std::vector<ValueId>& inputs);

 private:
  class Binder;
  std::shared_ptr<Binder> binder_;
};

// One for each argument of a schema; empty if it is not given.
using GivenArguments = std::vector<std::optional<ArgumentValue>>;

// Makes the input of a node that is a value.
using InputOf = std::function<TensorMeta(ValueId)>;

// Fills `node`'s inputs and attributes from `arguments`.
void encode_arguments(const c10::FunctionSchema& schema, const GivenArguments& arguments,
                      const InputOf& input_of, OpNode& node);

}  // namespace torch_ir
