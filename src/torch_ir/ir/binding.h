// Binding: which input and which attribute of a node is which argument of its operator.
//
// A node's inputs are flat (tensors in schema order, absent ones left out), as the Python package
// writes them. This file is the only place that knows the rules, in both directions:
// `encode_arguments` makes inputs and attributes from the arguments of a call, `bind_node` finds
// the arguments again. Used by the converter (encode), and by plan, validate and everything else
// that has to know (bind).
//
// The rules:
// - Tensor arguments take inputs in schema order. One that was given a number instead has an
//   attribute with its name and takes none.
// - A list of tensors takes as many inputs as its count in the attribute "_tensor_list_sizes"
//   says, one count for each list that was given, in schema order. For lists that hold None,
//   "_tensor_list_none_masks" has a mask a list, true where None stands; those take no input.
// - Where some optional tensors are given and others are not, each given one carries
//   `TensorMeta::arg`, the name of its argument. Files of the Python package do not say it: there
//   a weight whose name ends as an argument is called ("p_norm_bias") is that argument, and what
//   is still open then can not be known and is an error.
// - All other arguments are attributes under their schema names; one without is at its default.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "torch_ir/ir/attribute.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// "aten.conv2d.default" for aten::conv2d, "aten.add.Tensor" for aten::add.Tensor.
std::string op_type_name(const c10::OperatorName& name);

// The inverse of op_type_name; nothing when `op_type` is not of the form NAMESPACE.NAME.OVERLOAD.
std::optional<c10::OperatorName> parse_op_type(std::string_view op_type);

// The operator called `op_type` in this process, or nothing.
std::optional<c10::OperatorHandle> find_operator(std::string_view op_type);

// The schema of `op_type`, an operator of this process or a built-in one (builtin_operators.h), or
// null. Schemas live as long as their operators.
const c10::FunctionSchema* find_schema(std::string_view op_type);

// What one argument of an operator is bound to.
struct DefaultArgument {};
struct TensorArgument {
  size_t input;  // Index into OpNode::inputs.
};
struct TensorListArgument {
  std::vector<std::optional<size_t>> inputs;  // None where the list holds None.
};
struct AttributeArgument {
  const Attribute* value;  // Points into OpNode::attrs.
};
using BoundArgument =
    std::variant<DefaultArgument, TensorArgument, TensorListArgument, AttributeArgument>;

// Binds nodes that call the operator of `schema`, which must outlive it. Keeps what it learns about
// the operator, and its memory, from node to node.
class OperatorBinder {
 public:
  explicit OperatorBinder(const c10::FunctionSchema& schema);
  OperatorBinder(OperatorBinder&&) noexcept;
  OperatorBinder& operator=(OperatorBinder&&) noexcept;
  ~OperatorBinder();

  // One entry for each argument of the schema. Throws ValidationError, naming node, operator and
  // argument, when inputs are missing or left over, an attribute is not an argument of the
  // operator, or a required argument is absent. The result points into `node`, and is good until
  // the next call.
  const std::vector<BoundArgument>& bind(const OpNode& node);

 private:
  class Binder;
  std::unique_ptr<Binder> binder_;
};

// The same for one node.
std::vector<BoundArgument> bind_node(const OpNode& node, const c10::FunctionSchema& schema);

// An argument of a call, on its way into a node: not given, a tensor, a list of tensors (None
// where empty), or anything else.
using CallArgument =
    std::variant<std::monostate, TensorMeta, std::vector<std::optional<TensorMeta>>, Attribute>;

// Fills `node`'s inputs and attributes from `arguments`, one for each argument of `schema`.
void encode_arguments(const c10::FunctionSchema& schema, std::vector<CallArgument> arguments,
                      OpNode& node);

}  // namespace torch_ir
