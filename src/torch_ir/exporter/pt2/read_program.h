// The model of an archive, without weights: its JSON as an ExportedProgram.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/ir/attribute.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {

// What an input or an output of the graph stands for.
struct PortSpec {
  // A mutation is an output that is the new value of an input.
  enum class Role { kValue, kFixed, kToken, kMutation };

  Role role = Role::kValue;
  // The value; may be empty for a fixed one.
  std::string name;
  // Of an input that is a value, or of that which a mutation changes.
  InputKind kind = InputKind::kUserInput;
  // The name in the state dict; of user inputs nothing, or for a mutation the placeholder.
  std::string target = {};
  // Of a fixed one: an argument or a result of the model that is no tensor.
  Attribute value = {};
};

struct Signature {
  // One for each input and output of the graph.
  std::vector<PortSpec> inputs;
  std::vector<PortSpec> outputs;
};

// Throws SerializationError for what is not known or not supported.
Signature read_signature(const JsonValue& value, const Place& place);

// `model_name` is for models whose class the archive does not tell. Throws SerializationError or
// ExportError that says what in the JSON is wrong.
ExportedProgram read_program(const JsonValue& root, const std::string& model_name);

// Puts right what can be told from the rest of the graph: PyTorch 2.6 to 2.9 wrote the final states
// of a bidirectional LSTM with a dimension too many. They have the shapes of the initial ones.
void repair_known_faults(ExportedGraph& graph);

}  // namespace torch_ir
