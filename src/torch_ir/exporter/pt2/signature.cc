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

using Role = PortSpec::Role;

PortSpec user_value(const ObjectReader& fields) {
  Attribute value = fields.get("arg", read_port);
  if (const std::string* name = referred_name(value)) return {Role::kValue, *name};
  return {Role::kFixed, {}, {}, {}, std::move(value)};
}

PortSpec constant_input(const ObjectReader& fields) {
  Attribute value = fields.get("value", read_port);
  if (referred_name(value) != nullptr) {
    fields.place().fail("a constant input has no fixed value");
  }
  return {Role::kFixed, fields.get("name", as_string), {}, {}, std::move(value)};
}

// One without a target.
template <Role kRole>
PortSpec named(const ObjectReader& fields) {
  return {kRole, fields.get("arg", read_name)};
}

template <Role kRole, InputKind kKind>
PortSpec with_target(const ObjectReader& fields) {
  return {kRole, fields.get("arg", read_name), kKind, fields.get(names_of(kKind).key, as_string)};
}

PortSpec custom_object(const ObjectReader& fields) {
  fields.place().refuse(fmt::format(
      "the model uses the object '{}', which is no tensor; objects (torchbind, opaque) are not "
      "supported",
      printable(fields.get("custom_obj_name", as_string))));
}

PortSpec gradient(const ObjectReader& fields) {
  fields.place().refuse(
      "gradients among the outputs are not supported; export the model for inference");
}

struct SpecReader {
  std::string_view kind;
  PortSpec (*read)(const ObjectReader&);
};

constexpr SpecReader kInputReaders[] = {
    {"user_input", user_value},
    {"constant_input", constant_input},
    {"parameter", with_target<Role::kValue, InputKind::kParameter>},
    {"buffer", with_target<Role::kValue, InputKind::kBuffer>},
    {"tensor_constant", with_target<Role::kValue, InputKind::kConstant>},
    {"token", named<Role::kToken>},
    {"custom_obj", custom_object},
};

constexpr SpecReader kOutputReaders[] = {
    {"user_output", user_value},
    {"loss_output", named<Role::kValue>},
    {"buffer_mutation", with_target<Role::kMutation, InputKind::kBuffer>},
    {"parameter_mutation", with_target<Role::kMutation, InputKind::kParameter>},
    {"user_input_mutation", with_target<Role::kMutation, InputKind::kUserInput>},
    {"token", named<Role::kToken>},
    {"gradient_to_parameter", gradient},
    {"gradient_to_user_input", gradient},
};

std::vector<PortSpec> read_specs(const ObjectReader& signature, std::string_view key,
                                 std::span<const SpecReader> readers) {
  return signature.get_list(key, [&](const JsonValue& item, const Place& place) {
    const TaggedValue spec = as_tagged(item, place);
    const auto reader = std::ranges::find(readers, spec.tag, &SpecReader::kind);
    if (reader == readers.end()) place.fail(fmt::format("unknown kind '{}'", printable(spec.tag)));
    return reader->read(ObjectReader(spec.value, place.key(reader->kind)));
  });
}

}  // namespace

Signature read_signature(const JsonValue& value, const Place& place) {
  const ObjectReader fields(value, place);
  return {read_specs(fields, "input_specs", kInputReaders),
          read_specs(fields, "output_specs", kOutputReaders)};
}

const char* name_of(InputKind kind) { return names_of(kind).text; }

}  // namespace torch_ir
