// The arguments of nodes as archives write them, by the names that values have there.
//
// {"as_tensor": {"name": "x"}}, {"as_ints": [1, 2]}, ...; nothing is known yet about what the names
// stand for.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "torch_ir/ir/attribute.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {

// A list of tensors; nothing where it holds None.
using NameList = std::vector<std::optional<std::string>>;

// A graph that an operator is to run: {"inputs": ..., "nodes": ..., ...}.
struct GraphArgument {
  const JsonValue* graph;
};

// An operator that another operator is to call: "torch.ops.aten._print.default".
struct OperatorTarget {
  std::string target;
};

// An argument of a kind that exists, but that no operator here can take; refused where it is used.
struct UnsupportedArgument {
  std::string what;
};

// An attribute that is a reference may be to a tensor or to a number: archives do not always say
// which.
using ArchiveArgument =
    std::variant<Attribute, NameList, GraphArgument, OperatorTarget, UnsupportedArgument>;

// Throws SerializationError that names the place. Graphs are not looked into.
ArchiveArgument read_argument(const JsonValue& value, const Place& place);

// An input or an output of a graph: a reference, or fixed; no list.
Attribute read_port(const JsonValue& value, const Place& place);

// The names that an output of a node gives to values: one, one for each member of a list, or
// nothing for None.
NameList read_output_names(const JsonValue& value, const Place& place);

// The value that `attribute` refers to, if it is nothing else; or null.
const std::string* referred_name(const Attribute& attribute);

// {"name": "x"}
std::string read_name(const JsonValue& value, const Place& place);

}  // namespace torch_ir
