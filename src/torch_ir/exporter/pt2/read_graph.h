// A graph of an archive: its nodes, and shape and dtype of its values.
#pragma once

#include "torch_ir/exporter/pt2/serialized_graph.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {

// Throws SerializationError or ExportError, naming the place or the node. As deep as the JSON may
// be, graphs may hold graphs.
SerializedGraph read_graph(const JsonValue& value, const Place& place);

}  // namespace torch_ir
