#include "torch_ir/ir/attribute.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <ostream>
#include <ranges>

#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

bool same_number(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

// A float as Python's repr: "1.0", "0.1", "1e-05", "inf".
std::string float_text(double value) {
  std::string text = fmt::format("{}", value);
  const bool is_integer_text = text.find_first_not_of("-0123456789") == std::string::npos;
  return is_integer_text ? text + ".0" : text;
}

struct AttributeToText {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return float_text(value); }
  std::string operator()(std::complex<double> value) const {
    return fmt::format("({}{:+}j)", value.real(), value.imag());
  }
  std::string operator()(const std::string& value) const { return "'" + value + "'"; }
  std::string operator()(c10::ScalarType value) const { return "torch." + dtype_name(value); }
  std::string operator()(c10::Layout value) const { return "torch." + layout_name(value); }
  std::string operator()(c10::MemoryFormat value) const {
    return "torch." + memory_format_name(value);
  }
  std::string operator()(c10::Device value) const { return value.str(); }
  std::string operator()(const ValueRef& value) const { return '%' + value.name; }
  std::string operator()(const Opaque& value) const { return '<' + value.what + '>'; }
  std::string operator()(const Attribute::List& values) const {
    return fmt::format("[{}]", fmt::join(values | std::views::transform(attribute_text), ", "));
  }
};

}  // namespace

bool Attribute::operator==(const Attribute& other) const {
  if (const auto* a = get_if<double>()) {
    const auto* b = other.get_if<double>();
    return b != nullptr && same_number(*a, *b);
  }
  if (const auto* a = get_if<std::complex<double>>()) {
    const auto* b = other.get_if<std::complex<double>>();
    return b != nullptr && same_number(a->real(), b->real()) && same_number(a->imag(), b->imag());
  }
  return value_ == other.value_;
}

std::string attribute_text(const Attribute& attribute) {
  return std::visit(AttributeToText(), attribute.value());
}

std::ostream& operator<<(std::ostream& stream, const Attribute& attribute) {
  return stream << attribute_text(attribute);
}

std::vector<std::string> value_refs(const Attribute& attribute) {
  if (const auto* ref = attribute.get_if<ValueRef>()) return {ref->name};
  std::vector<std::string> names;
  if (const auto* items = attribute.get_if<Attribute::List>()) {
    for (const Attribute& item : *items) {
      std::ranges::move(value_refs(item), std::back_inserter(names));
    }
  }
  return names;
}

Attribute with_values(const Attribute& attribute,
                      const std::function<Attribute(const ValueRef&)>& resolve) {
  if (const auto* ref = attribute.get_if<ValueRef>()) return resolve(*ref);
  const auto* items = attribute.get_if<Attribute::List>();
  if (items == nullptr) return attribute;
  Attribute::List resolved;
  resolved.reserve(items->size());
  for (const Attribute& item : *items) resolved.push_back(with_values(item, resolve));
  return resolved;
}

const Attribute* AttributeMap::find(std::string_view name) const {
  const auto item = std::ranges::find(items_, name, &Item::first);
  return item == items_.end() ? nullptr : &item->second;
}

void AttributeMap::set(std::string_view name, Attribute value) {
  const auto item = std::ranges::find(items_, name, &Item::first);
  if (item == items_.end()) {
    items_.emplace_back(name, std::move(value));
  } else {
    item->second = std::move(value);
  }
}

}  // namespace torch_ir
