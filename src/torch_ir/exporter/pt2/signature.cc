#include "torch_ir/exporter/pt2/signature.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/arguments.h"
#include "torch_ir/exporter/pt2/json_fields.h"

namespace torch_ir {
namespace {

std::string read_text(const Fields& fields, std::string_view key) {
  return read_string(fields.get(key), fields.place().key(key));
}

std::string read_argument_name(const Fields& fields) {
  return read_name(fields.get("arg"), fields.place().key("arg"));
}

SerializedPort read_argument_port(const Fields& fields) {
  SerializedPort port = read_port(fields.get("arg"), fields.place().key("arg"));
  if (const auto* unsupported = std::get_if<UnsupportedArgument>(&port)) {
    fields.place().refuse(fmt::format("{} is not supported", unsupported->what));
  }
  return port;
}

InputSpec user_input(const Fields& fields) {
  SerializedPort port = read_argument_port(fields);
  if (auto* ref = std::get_if<ValueRef>(&port)) {
    return {InputSpec::Role::kValue, std::move(ref->name)};
  }
  return {InputSpec::Role::kFixed, {}, {}, {}, std::get<Attribute>(port)};
}

InputSpec constant_input(const Fields& fields) {
  const SerializedPort port = read_port(fields.get("value"), fields.place().key("value"));
  const auto* value = std::get_if<Attribute>(&port);
  if (value == nullptr) fields.place().fail("a constant input has no fixed value");
  return {InputSpec::Role::kFixed, read_text(fields, "name"), {}, {}, *value};
}

InputSpec parameter(const Fields& fields) {
  return {InputSpec::Role::kValue, read_argument_name(fields), InputKind::kParameter,
          read_text(fields, "parameter_name")};
}

InputSpec buffer(const Fields& fields) {
  return {InputSpec::Role::kValue, read_argument_name(fields), InputKind::kBuffer,
          read_text(fields, "buffer_name")};
}

InputSpec tensor_constant(const Fields& fields) {
  return {InputSpec::Role::kValue, read_argument_name(fields), InputKind::kConstant,
          read_text(fields, "tensor_constant_name")};
}

InputSpec token_input(const Fields& fields) {
  return {InputSpec::Role::kToken, read_argument_name(fields)};
}

InputSpec custom_object(const Fields& fields) {
  fields.place().refuse(fmt::format(
      "the model uses the object '{}', which is no tensor; objects (torchbind, opaque) are not "
      "supported",
      printable(read_text(fields, "custom_obj_name"))));
}

OutputSpec user_output(const Fields& fields) {
  SerializedPort port = read_argument_port(fields);
  auto* ref = std::get_if<ValueRef>(&port);
  return {OutputSpec::Role::kResult, ref == nullptr ? std::string() : std::move(ref->name)};
}

OutputSpec loss_output(const Fields& fields) {
  return {OutputSpec::Role::kResult, read_argument_name(fields)};
}

OutputSpec buffer_mutation(const Fields& fields) {
  return {OutputSpec::Role::kMutation, read_argument_name(fields), InputKind::kBuffer,
          read_text(fields, "buffer_name")};
}

OutputSpec parameter_mutation(const Fields& fields) {
  return {OutputSpec::Role::kMutation, read_argument_name(fields), InputKind::kParameter,
          read_text(fields, "parameter_name")};
}

OutputSpec user_input_mutation(const Fields& fields) {
  return {OutputSpec::Role::kMutation, read_argument_name(fields), InputKind::kUserInput,
          read_text(fields, "user_input_name")};
}

OutputSpec token_output(const Fields& fields) {
  return {OutputSpec::Role::kToken, read_argument_name(fields)};
}

OutputSpec gradient(const Fields& fields) {
  fields.place().refuse(
      "gradients among the outputs are not supported; export the model for inference");
}

template <class Spec>
using SpecTable = std::unordered_map<std::string_view, Spec (*)(const Fields&)>;

const SpecTable<InputSpec>& input_readers() {
  static const SpecTable<InputSpec> table = {
      {"user_input", user_input},
      {"constant_input", constant_input},
      {"parameter", parameter},
      {"buffer", buffer},
      {"tensor_constant", tensor_constant},
      {"token", token_input},
      {"custom_obj", custom_object},
  };
  return table;
}

const SpecTable<OutputSpec>& output_readers() {
  static const SpecTable<OutputSpec> table = {
      {"user_output", user_output},
      {"loss_output", loss_output},
      {"buffer_mutation", buffer_mutation},
      {"parameter_mutation", parameter_mutation},
      {"user_input_mutation", user_input_mutation},
      {"token", token_output},
      {"gradient_to_parameter", gradient},
      {"gradient_to_user_input", gradient},
  };
  return table;
}

template <class Spec>
std::vector<Spec> read_specs(const JsonValue& value, const Place& place,
                             const SpecTable<Spec>& readers) {
  const JsonValue::List& items = read_list(value, place);
  std::vector<Spec> specs;
  for (size_t i = 0; i < items.size(); ++i) {
    const Place item_place = place.item(i);
    const Union spec = read_union(items[i], item_place);
    const auto reader = readers.find(spec.kind);
    if (reader == readers.end()) {
      item_place.fail(fmt::format("unknown kind '{}'", printable(spec.kind)));
    }
    specs.push_back(reader->second(Fields(spec.value, item_place.key(reader->first))));
  }
  return specs;
}

const char* kind_text(InputKind kind) {
  switch (kind) {
    case InputKind::kUserInput:
      return "user input";
    case InputKind::kParameter:
      return "parameter";
    case InputKind::kBuffer:
      return "buffer";
    case InputKind::kConstant:
      return "constant";
  }
  return "";
}

}  // namespace

Signature read_signature(const JsonValue& value, const Place& place) {
  const Fields fields(value, place);
  return {read_specs(fields.get("input_specs"), place.key("input_specs"), input_readers()),
          read_specs(fields.get("output_specs"), place.key("output_specs"), output_readers())};
}

std::string find_mutated(const OutputSpec& output, const Signature& signature) {
  for (const InputSpec& input : signature.inputs) {
    if (input.role != InputSpec::Role::kValue || input.kind != output.mutated_kind) continue;
    const bool is_user_input = input.kind == InputKind::kUserInput;
    if ((is_user_input ? input.name : input.target) == output.mutated) return input.name;
  }
  throw ExportError(fmt::format(
      "the output '{}' is the new value of the {} '{}', which is no input", printable(output.name),
      kind_text(output.mutated_kind), printable(output.mutated)));
}

}  // namespace torch_ir
