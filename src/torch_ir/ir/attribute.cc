#include "torch_ir/ir/attribute.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <ostream>

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

struct Printer {
  std::ostream& stream;

  void operator()(std::monostate) const { stream << "None"; }
  void operator()(bool value) const { stream << (value ? "True" : "False"); }
  void operator()(int64_t value) const { stream << value; }
  void operator()(double value) const { stream << float_text(value); }
  void operator()(std::complex<double> value) const {
    stream << fmt::format("({}{:+}j)", value.real(), value.imag());
  }
  void operator()(const std::string& value) const { stream << '\'' << value << '\''; }
  void operator()(c10::ScalarType value) const { stream << "torch." << dtype_name(value); }
  void operator()(c10::Layout value) const { stream << "torch." << layout_name(value); }
  void operator()(c10::MemoryFormat value) const {
    stream << "torch." << memory_format_name(value);
  }
  void operator()(c10::Device value) const { stream << value.str(); }
  void operator()(const ValueRef& value) const { stream << '%' << value.name; }
  void operator()(const Attribute::List& values) const {
    stream << '[';
    const char* separator = "";
    for (const Attribute& value : values) {
      stream << separator << value;
      separator = ", ";
    }
    stream << ']';
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

std::ostream& operator<<(std::ostream& stream, const Attribute& attribute) {
  std::visit(Printer{stream}, attribute.value());
  return stream;
}

std::vector<std::string> value_refs(const Attribute& attribute) {
  if (const auto* ref = attribute.get_if<ValueRef>()) return {ref->name};
  std::vector<std::string> names;
  if (const auto* items = attribute.get_if<Attribute::List>()) {
    for (const Attribute& item : *items)
      std::ranges::move(value_refs(item), std::back_inserter(names));
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
