// The signature of a model: what its inputs and outputs stand for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/ir/attribute.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {

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

// "user input", "parameter", ..., for messages.
const char* name_of(InputKind kind);

}  // namespace torch_ir
