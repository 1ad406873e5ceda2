// Reads the JSON of an archive's model as a Program without weights.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/ir/attribute.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

struct PortSpec {
  // A mutation is an output that is the new value of an input.
  enum class Role { kValue, kFixed, kToken, kMutation };

  Role role = Role::kValue;
  // May be empty for a fixed value.
  std::string name;
  // For inputs that are values, or the input that a mutation changes.
  InputKind kind = InputKind::kUserInput;
  // The name in the state dict; for a mutated user input its placeholder, otherwise empty for user
  // inputs.
  std::string target = {};
  // For fixed values: an argument or result of the model that is not a tensor.
  Attribute value = {};
};

struct Signature {
  std::vector<PortSpec> inputs;
  std::vector<PortSpec> outputs;
};

// Throws SerializationError for unknown or unsupported content.
Signature read_signature(const JsonValue& value, const Place& place);

// `model_name` is for models whose class the archive does not tell. Throws SerializationError or
// ExportError that locates the error in the JSON.
Program read_program(const JsonValue& root, const std::string& model_name);

// Returns IR::guards for the guards of an archive: with the names of graph inputs, and without
// those that shapes and ranges of `program` say too.
std::vector<std::string> find_guards(const std::vector<std::string>& guards_code,
                                     const Signature& signature, const Program& program);

// Repairs known bugs: PyTorch 2.6 to 2.9 gave the final states of a bidirectional LSTM one
// dimension too many. They have the shapes of the initial ones.
void repair_known_faults(Graph& graph);

}  // namespace torch_ir
