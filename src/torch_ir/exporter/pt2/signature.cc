#include "torch_ir/exporter/pt2/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/archive_argument.h"
#include "torch_ir/ir/json_reader.h"

namespace torch_ir {
namespace {

// What an input is called in messages, and the key of what it stands for, by InputKind.
struct KindNames {
  const char* text;
  const char* key;
};
constexpr KindNames kKindNames[] = {
    {"user input", "user_input_name"},
    {"parameter", "parameter_name"},
    {"buffer", "buffer_name"},
    {"constant", "tensor_constant_name"},
};

const KindNames& names_of(InputKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

std::string read_argument_name(const ObjectReader& fields) { return fields.get("arg", read_name); }

InputSpec user_input(const ObjectReader& fields) {
  Attribute value = fields.get("arg", read_port);
  if (const std::string* name = referred_name(value)) return {InputSpec::Role::kValue, *name};
  return {InputSpec::Role::kFixed, {}, {}, {}, std::move(value)};
}

InputSpec constant_input(const ObjectReader& fields) {
  Attribute value = fields.get("value", read_port);
  if (referred_name(value) != nullptr) {
    fields.place().fail("a constant input has no fixed value");
  }
  return {InputSpec::Role::kFixed, fields.get("name", as_string), {}, {}, std::move(value)};
}

template <InputKind kKind>
InputSpec weight(const ObjectReader& fields) {
  return {InputSpec::Role::kValue, read_argument_name(fields), kKind,
          fields.get(names_of(kKind).key, as_string)};
}

InputSpec token_input(const ObjectReader& fields) {
  return {InputSpec::Role::kToken, read_argument_name(fields)};
}

InputSpec custom_object(const ObjectReader& fields) {
  fields.place().refuse(fmt::format(
      "the model uses the object '{}', which is no tensor; objects (torchbind, opaque) are not "
      "supported",
      printable(fields.get("custom_obj_name", as_string))));
}

OutputSpec user_output(const ObjectReader& fields) {
  const Attribute value = fields.get("arg", read_port);
  const std::string* name = referred_name(value);
  return {OutputSpec::Role::kResult, name == nullptr ? std::string() : *name};
}

OutputSpec loss_output(const ObjectReader& fields) {
  return {OutputSpec::Role::kResult, read_argument_name(fields)};
}

template <InputKind kKind>
OutputSpec mutation(const ObjectReader& fields) {
  return {OutputSpec::Role::kMutation, read_argument_name(fields), kKind,
          fields.get(names_of(kKind).key, as_string)};
}

OutputSpec token_output(const ObjectReader& fields) {
  return {OutputSpec::Role::kToken, read_argument_name(fields)};
}

OutputSpec gradient(const ObjectReader& fields) {
  fields.place().refuse(
      "gradients among the outputs are not supported; export the model for inference");
}

template <class Spec>
struct SpecReader {
  std::string_view kind;
  Spec (*read)(const ObjectReader&);
};

constexpr SpecReader<InputSpec> kInputReaders[] = {
    {"user_input", user_input},
    {"constant_input", constant_input},
    {"parameter", weight<InputKind::kParameter>},
    {"buffer", weight<InputKind::kBuffer>},
    {"tensor_constant", weight<InputKind::kConstant>},
    {"token", token_input},
    {"custom_obj", custom_object},
};

constexpr SpecReader<OutputSpec> kOutputReaders[] = {
    {"user_output", user_output},
    {"loss_output", loss_output},
    {"buffer_mutation", mutation<InputKind::kBuffer>},
    {"parameter_mutation", mutation<InputKind::kParameter>},
    {"user_input_mutation", mutation<InputKind::kUserInput>},
    {"token", token_output},
    {"gradient_to_parameter", gradient},
    {"gradient_to_user_input", gradient},
};

template <class Spec>
std::vector<Spec> read_specs(const ObjectReader& signature, std::string_view key,
                             std::span<const SpecReader<Spec>> readers) {
  return signature.get_list(key, [&](const JsonValue& item, const Place& place) {
    const TaggedValue spec = as_tagged(item, place);
    const auto reader = std::ranges::find(readers, spec.tag, &SpecReader<Spec>::kind);
    if (reader == readers.end()) place.fail(fmt::format("unknown kind '{}'", printable(spec.tag)));
    return reader->read(ObjectReader(spec.value, place.key(reader->kind)));
  });
}

}  // namespace

Signature read_signature(const JsonValue& value, const Place& place) {
  const ObjectReader fields(value, place);
  return {read_specs<InputSpec>(fields, "input_specs", kInputReaders),
          read_specs<OutputSpec>(fields, "output_specs", kOutputReaders)};
}

const char* name_of(InputKind kind) { return names_of(kind).text; }

}  // namespace torch_ir
