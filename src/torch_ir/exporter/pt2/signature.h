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

struct InputSpec {
  enum class Role { kValue, kFixed, kToken };

  Role role = Role::kValue;
  // The placeholder; may be empty for a fixed one.
  std::string name;
  // Of a value.
  InputKind kind = InputKind::kUserInput;
  // The name in the state dict; empty for user inputs.
  std::string target = {};
  // Of a fixed one: an argument of the model that is no tensor.
  Attribute value = {};
};

struct OutputSpec {
  enum class Role { kResult, kMutation, kToken };

  Role role = Role::kResult;
  // The value; empty where it is fixed.
  std::string name;
  // What a mutation changes: a buffer or parameter by its name in the state dict, or a user input
  // by its placeholder.
  InputKind mutated_kind = InputKind::kUserInput;
  std::string mutated = {};
};

struct Signature {
  // One for each input and output of the graph.
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
};

// Throws SerializationError for what is not known or not supported.
Signature read_signature(const JsonValue& value, const Place& place);

// "user input", "parameter", ..., for messages.
const char* name_of(InputKind kind);

}  // namespace torch_ir
