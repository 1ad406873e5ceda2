// The model of an archive, without weights: its JSON as an ExportedProgram.
#pragma once

#include <string>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {

// `model_name` is for models whose class the archive does not tell. Throws SerializationError or
// ExportError that says what in the JSON is wrong.
ExportedProgram read_program(const JsonValue& root, const std::string& model_name);

// Puts right what can be told from the rest of the graph: PyTorch 2.6 to 2.9 wrote the final states
// of a bidirectional LSTM with a dimension too many. They have the shapes of the initial ones.
void repair_known_faults(ExportedGraph& graph);

}  // namespace torch_ir
