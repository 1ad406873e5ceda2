#include "models/operators/call_text.h"

#include <ATen/core/List.h>
#include <ATen/core/jit_type.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>
#include <variant>

#include "models/operators/recipe.h"
#include "torch_ir/base/error.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/ivalue.h"

namespace torch_ir {
namespace {

struct Value;
using Values = std::vector<Value>;

// None, a number, a name; a tensor; a list.
struct Value {
  std::variant<Attribute, Recipe, Values> value;
};

struct NamedValue {
  // Empty where it is known by its position.
  std::string name;
  Value value;
};

// "float32" of a row's "x".
using DtypeNames = std::vector<std::pair<std::string_view, c10::ScalarType>>;

class CallReader {
 public:
  CallReader(std::string_view text, const DtypeNames& dtypes) : rest_(text), dtypes_(dtypes) {}

  std::vector<NamedValue> read() {
    std::vector<NamedValue> values;
    while (!at_end()) {
      values.push_back(read_named());
      if (!at_end()) expect(',');
    }
    return values;
  }

 private:
  bool at_end() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    return rest_.empty();
  }

  bool accept(char c) {
    if (at_end() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c))
      throw Error(std::string("'") + c + "' is missing before '" + std::string(rest_) + "'");
  }

  std::string_view take(size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  // Up to one of `ends`.
  std::string_view read_until(std::string_view ends) {
    at_end();
    return take(std::min(rest_.find_first_of(ends), rest_.size()));
  }

  NamedValue read_named() {
    at_end();
    const size_t name_size = std::min(rest_.find_first_of("=,[{'"), rest_.size());
    if (!rest_.substr(name_size).starts_with('=')) return {{}, read_value()};
    std::string name(take(name_size));
    expect('=');
    return {std::move(name), read_value()};
  }

  Value read_value() {
    if (accept('[')) return {read_list()};
    if (accept('\'')) {
      std::string text(read_until("'"));
      expect('\'');
      return {Attribute(std::move(text))};
    }
    const std::string_view word = read_until(",[]: ");
    if (rest_.starts_with('[')) return {read_recipe(word)};
    return {read_word(word)};
  }

  Values read_list() {
    Values values;
    while (!accept(']')) {
      values.push_back(read_value());
      accept(',');
    }
    return values;
  }

  Attribute read_word(std::string_view word) const {
    if (word == "None") return {};
    if (word == "True") return true;
    if (word == "False") return false;
    if (const auto dtype = find_type(word)) return *dtype;
    int64_t integer = 0;
    const char* end = word.data() + word.size();
    if (std::from_chars(word.data(), end, integer).ptr == end) return integer;
    double number = 0;
    if (std::from_chars(word.data(), end, number).ptr == end) return number;
    return std::string(word);
  }

  Recipe read_recipe(std::string_view type) {
    Recipe recipe;
    const auto dtype = find_type(type);
    if (!dtype) throw Error("'" + std::string(type) + "' is no dtype");
    recipe.dtype = *dtype;
    expect('[');
    while (!accept(']')) {
      recipe.shape.push_back(std::get<int64_t>(read_word(read_until(",]")).value()));
      accept(',');
    }
    if (accept('{')) {
      while (!accept('}')) {
        recipe.values.push_back(read_number(read_until(",}")));
        accept(',');
      }
    }
    while (accept(':')) recipe.words.emplace_back(read_until(":,] "));
    return recipe;
  }

  double read_number(std::string_view word) const {
    double number = 0;
    const char* end = word.data() + word.size();
    if (std::from_chars(word.data(), end, number).ptr != end) {
      throw Error("'" + std::string(word) + "' is no number");
    }
    return number;
  }

  std::optional<c10::ScalarType> find_type(std::string_view name) const {
    const auto own = std::ranges::find(dtypes_, name, &DtypeNames::value_type::first);
    return own != dtypes_.end() ? own->second : find_dtype(name);
  }

  std::string_view rest_;
  const DtypeNames& dtypes_;
};

class ArgumentMaker {
 public:
  explicit ArgumentMaker(const std::string& case_name) : case_name_(case_name) {}

  c10::IValue make(const Value& value, const c10::Argument& argument) const {
    if (const auto* recipe = std::get_if<Recipe>(&value.value)) {
      return make_tensor(*recipe, case_name_, argument.name());
    }
    if (is_tensor_list(*argument.type())) {
      return make_list(std::get<Values>(value.value), argument);
    }
    return to_ivalue(with_argument_type(attribute(value), argument), argument);
  }

 private:
  static const c10::Type& without_optional(const c10::Type& type) {
    const auto* optional = type.castRaw<c10::OptionalType>();
    return optional == nullptr ? type : *optional->getElementType();
  }

  static bool is_tensor_list(const c10::Type& type) {
    const auto* list = without_optional(type).castRaw<c10::ListType>();
    return list != nullptr &&
           without_optional(*list->getElementType()).kind() == c10::TypeKind::TensorType;
  }

  c10::IValue make_list(const Values& items, const c10::Argument& argument) const {
    const auto& type = *without_optional(*argument.type()).castRaw<c10::ListType>();
    c10::impl::GenericList list(type.getElementType());
    for (const Value& item : items) {
      const auto* recipe = std::get_if<Recipe>(&item.value);
      const std::string name = argument.name() + std::to_string(list.size());
      list.push_back(recipe ? c10::IValue(make_tensor(*recipe, case_name_, name)) : c10::IValue());
    }
    return list;
  }

  static Attribute attribute(const Value& value) {
    if (const auto* plain = std::get_if<Attribute>(&value.value)) return *plain;
    Attribute::List list;
    for (const Value& item : std::get<Values>(value.value)) list.push_back(attribute(item));
    return list;
  }

  const std::string& case_name_;
};

const NamedValue* find_value(const std::vector<NamedValue>& values, size_t position,
                             const std::string& name) {
  if (position < values.size() && values[position].name.empty()) return &values[position];
  const auto named = std::ranges::find(values, name, &NamedValue::name);
  return named == values.end() ? nullptr : &*named;
}

std::vector<c10::IValue> arguments_of(const std::vector<NamedValue>& values,
                                      const c10::FunctionSchema& schema,
                                      const ArgumentMaker& maker) {
  std::vector<c10::IValue> arguments;
  size_t num_used = 0;
  for (const c10::Argument& argument : schema.arguments()) {
    if (const NamedValue* value = find_value(values, arguments.size(), argument.name())) {
      arguments.push_back(maker.make(value->value, argument));
      ++num_used;
    } else if (argument.default_value()) {
      arguments.push_back(*argument.default_value());
    } else {
      throw Error("no value for '" + argument.name() + "'");
    }
  }
  if (num_used != values.size()) throw Error("values are left over");
  return arguments;
}

}  // namespace

std::vector<c10::IValue> read_arguments(std::string_view text, const c10::FunctionSchema& schema,
                                        c10::ScalarType dtype, const std::string& case_name) {
  const DtypeNames dtypes = {{"x", dtype}, {"real", c10::toRealValueType(dtype)}};
  try {
    return arguments_of(CallReader(text, dtypes).read(), schema, ArgumentMaker(case_name));
  } catch (const std::exception& error) {
    throw Error("case '" + case_name + "': " + error.what());
  }
}

}  // namespace torch_ir
