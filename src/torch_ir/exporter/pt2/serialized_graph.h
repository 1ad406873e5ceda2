// A graph as an archive has it, read but not yet understood.
//
// Between the JSON and the ExportedGraph (lower_graph.h): targets, arguments and names are the
// archive's own, graphs that operators run are arguments, and nothing is known yet about which
// operators there are.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/ir/attribute.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {

struct SerializedGraph;

// An operator that another operator is to call: "torch.ops.aten._print.default".
struct OperatorTarget {
  std::string target;
};

// An argument of a kind that exists, but that no operator here can take; refused where it is used.
struct UnsupportedArgument {
  std::string what;
};

using SerializedGraphPointer = std::shared_ptr<const SerializedGraph>;

// An attribute that is a reference may be to a tensor or to a number: archives do not always say
// which.
using SerializedValue =
    std::variant<Attribute, ValueList, SerializedGraphPointer, OperatorTarget, UnsupportedArgument>;

struct SerializedArgument {
  // The name in the operator's schema; empty where the archive leaves it to the position.
  std::string name;
  SerializedValue value;
};

struct SerializedNode {
  std::string name;
  std::string target;
  std::vector<SerializedArgument> arguments;
  // In order, members of lists in a row; nothing for None.
  std::vector<std::optional<std::string>> outputs;
  // The class of the model that the node is part of: "torchvision.models.resnet.ResNet"; empty
  // where the archive does not tell.
  std::string root_class;
  NodeOrigin origin = {};
};

struct SerializedGraph {
  // Values, or fixed: attributes, or unsupported.
  std::vector<SerializedValue> inputs;
  std::vector<SerializedNode> nodes;
  std::vector<SerializedValue> outputs;
  std::unordered_map<std::string, ValueMeta> values;
};

// Throws SerializationError or ExportError, naming the place or the node. As deep as the JSON may
// be, graphs may hold graphs.
SerializedGraph read_graph(const JsonValue& value, const Place& place);

// An input or an output of a graph, which can be neither a list nor a graph.
SerializedValue read_port(const JsonValue& value, const Place& place);

// The value that `value` refers to, if it is nothing else; or null.
const std::string* referred_name(const SerializedValue& value);

// {"name": "x"}
std::string read_name(const JsonValue& value, const Place& place);

}  // namespace torch_ir
