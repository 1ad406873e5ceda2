// Arguments of archives: {"as_tensor": {"name": "x"}}, {"as_ints": [1, 2]}, ...
//
// One table says how each kind of the schema (torch/_export/serde/schema.py) is read. A kind that
// is not in it is an error.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torch_ir/exporter/pt2/serialized_graph.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {

SerializedValue read_argument(const JsonValue& value, const Place& place);

// An input or an output of a graph, which can be neither a list nor a graph.
SerializedPort read_port(const JsonValue& value, const Place& place);

// Adds the names that an output of a node gives to values: one, one for each member of a list, or
// nothing for None.
void read_node_output(const JsonValue& value, const Place& place,
                      std::vector<std::optional<std::string>>& names);

// {"name": "x"}
std::string read_name(const JsonValue& value, const Place& place);

}  // namespace torch_ir
