#include "torch_ir/exporter/pt2/scope.h"

#include <fmt/format.h>

#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

Attribute as_attribute(const Operand& operand) {
  if (const auto* ref = std::get_if<ValueRef>(&operand)) return *ref;
  return std::get<Attribute>(operand);
}

Operand as_operand(Attribute attribute) {
  if (const auto* ref = attribute.get_if<ValueRef>()) return *ref;
  return attribute;
}

}  // namespace

void Scope::bind(const std::string& name, Operand operand) {
  if (!operands_.emplace(name, std::move(operand)).second) {
    throw ExportError(fmt::format("there are two values called '{}'", printable(name)));
  }
}

std::string Scope::new_name(const std::string& name, GraphBuilder& builder) const {
  if (names_ == Names::kKept) return name;
  const auto wish = wishes_.find(name);
  return wish == wishes_.end() ? builder.new_name(name) : wish->second;
}

const Operand& Scope::find(const std::string& name) const {
  const auto operand = operands_.find(name);
  if (operand != operands_.end()) return operand->second;
  throw ExportError(
      fmt::format("the value '{}' is used, but nothing before makes it", printable(name)));
}

const ValueMeta& Scope::meta(const std::string& name) const {
  const auto value = graph_.values.find(name);
  if (value != graph_.values.end()) return value->second;
  throw ExportError(
      fmt::format("the shape and dtype of the value '{}' are missing", printable(name)));
}

Attribute Scope::resolve(const Attribute& attribute) const {
  return with_values(attribute, [&](const ValueRef& ref) { return as_attribute(find(ref.name)); });
}

Operand Scope::resolve_one(const SerializedValue& value) const {
  if (const auto* ref = std::get_if<ValueRef>(&value)) return find(ref->name);
  if (const auto* attribute = std::get_if<Attribute>(&value))
    return as_operand(resolve(*attribute));
  if (const auto* unsupported = std::get_if<UnsupportedArgument>(&value)) {
    throw ExportError(kNotSupported,
                      fmt::format("{} as an argument is not supported", unsupported->what));
  }
  throw ExportError("an argument is a list, a graph or an operator where one value is expected");
}

std::vector<Operand> Scope::resolve_list(const SerializedValue& value) const {
  std::vector<Operand> operands;
  if (const auto* list = std::get_if<ValueList>(&value)) {
    for (const auto& item : *list) {
      operands.push_back(item ? find(item->name) : Operand(Attribute()));
    }
    return operands;
  }
  const auto* attribute = std::get_if<Attribute>(&value);
  const auto* items = attribute == nullptr ? nullptr : attribute->get_if<Attribute::List>();
  if (items == nullptr) throw ExportError("an argument is not a list where one is expected");
  for (const Attribute& item : *items) operands.push_back(as_operand(resolve(item)));
  return operands;
}

}  // namespace torch_ir
