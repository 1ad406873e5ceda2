#include "models/operators/call_text.h"

#include <ATen/Dispatch.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/List.h>
#include <ATen/core/jit_type.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/diag_embed.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>
#include <variant>

#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/ivalue.h"

namespace torch_ir {
namespace {

// How to make a tensor argument of a case; common.cases describes the syntax.
struct Recipe {
  c10::ScalarType dtype = c10::ScalarType::Float;
  std::vector<int64_t> shape = {};
  std::vector<double> values = {};
  // The range of seeded values; by default the usual one of the dtype.
  std::optional<ValueRange> range = {};
  // "transposed", "with_nan", ..., in order; each one is_recipe_word.
  std::vector<std::string_view> words = {};
};

using at::Tensor;

ValueRange usual_range(c10::ScalarType dtype) {
  if (dtype == c10::ScalarType::Byte) return {0, 16};
  if (c10::isIntegralType(dtype, /*includeBool=*/false)) return {-8, 8};
  return {-2, 2};
}

bool has_word(const Recipe& recipe, std::string_view word) {
  return std::ranges::find(recipe.words, word) != recipe.words.end();
}

Tensor repeated(const Tensor& values, at::IntArrayRef shape) {
  const int64_t count = c10::multiply_integers(shape);
  if (count == 0) return at::empty(shape, values.options());
  const Tensor positions = at::arange(count).remainder(values.numel());
  return values.index_select(0, positions).reshape(shape);
}

template <class T>
std::vector<T> special_numbers() {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity) {
    const T infinity = Limits::infinity();
    const T nan = Limits::quiet_NaN();
    const T least = Limits::min();
    return {T(0.0f), T(-0.0f),      T(1.0f),          T(-1.0f), infinity, -infinity,
            nan,     Limits::max(), Limits::lowest(), least,    -least,   T(0.5f)};
  } else {
    return {Limits::min(), T(Limits::min() + 1), T(0), T(1), T(Limits::max() - 1), Limits::max()};
  }
}

template <class T>
std::vector<T> denormal_numbers() {
  using Limits = std::numeric_limits<T>;
  const T half = Limits::min() / T(2.0f);
  return {Limits::denorm_min(), -Limits::denorm_min(), half, -half, Limits::min(), T(0.0f)};
}

template <class T>
Tensor tensor_of(const std::vector<T>& numbers) {
  const Tensor tensor =
      at::empty({static_cast<int64_t>(numbers.size())}, c10::CppTypeToScalarType<T>::value);
  std::ranges::copy(numbers, tensor.mutable_data_ptr<T>());
  return tensor;
}

Tensor special_values(const Recipe& recipe) {
  if (recipe.dtype == at::kBool) return at::tensor({0, 1}, at::kLong).to(at::kBool);
  if (c10::isFloat8Type(recipe.dtype)) return at::arange(256, at::kByte).view(recipe.dtype);
  return AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, recipe.dtype, "special",
                                    [] { return tensor_of(special_numbers<scalar_t>()); });
}

Tensor denormal_values(const Recipe& recipe) {
  return AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, recipe.dtype, "denormal",
                                         [] { return tensor_of(denormal_numbers<scalar_t>()); });
}

Tensor seeded_values(const Recipe& recipe, const std::string& case_name, const std::string& name) {
  const ValueRange range = recipe.range.value_or(usual_range(recipe.dtype));
  return seeded_tensor(0, case_name, name, recipe.shape, recipe.dtype, range);
}

Tensor distinct_values(const Recipe& recipe, const std::string& case_name,
                       const std::string& name) {
  const int64_t count = c10::multiply_integers(recipe.shape);
  const ValueRange range = recipe.range.value_or(usual_range(recipe.dtype));
  const bool is_whole = c10::isIntegralType(recipe.dtype, /*includeBool=*/true);
  const double step =
      is_whole ? 1 : (range.high - range.low) / static_cast<double>(std::max<int64_t>(count, 1));
  const Tensor order =
      at::argsort(seeded_tensor(0, case_name, name, {count}, at::kDouble, {0, 1}), /*stable=*/true);
  return (order.to(at::kDouble) * step + range.low).to(recipe.dtype).reshape(recipe.shape);
}

Tensor given_values(const Recipe& recipe) {
  const bool is_whole = c10::isIntegralType(recipe.dtype, /*includeBool=*/true);
  Tensor numbers = tensor_of(recipe.values);
  // A double holds all explicit values: large int64 integers are not among them.
  if (is_whole) numbers = numbers.to(at::kLong);
  return repeated(numbers, recipe.shape).to(recipe.dtype);
}

Tensor values_of(const Recipe& recipe, const std::string& case_name, const std::string& name) {
  if (!recipe.values.empty()) return given_values(recipe);
  if (has_word(recipe, "special")) return repeated(special_values(recipe), recipe.shape);
  if (has_word(recipe, "denormal")) return repeated(denormal_values(recipe), recipe.shape);
  if (has_word(recipe, "distinct")) return distinct_values(recipe, case_name, name);
  return seeded_values(recipe, case_name, name);
}

// n, n + 1, ... on the diagonals of matrices, which makes them dominant and distinct.
Tensor heavy_diagonal(const Tensor& matrices) {
  const int64_t n = matrices.size(-1);
  return at::diag_embed(at::arange(2 * n, 3 * n).to(matrices.scalar_type()));
}

Tensor with_nan(const Tensor& values) {
  values.view(-1)[1] = std::numeric_limits<double>::quiet_NaN();
  return values;
}

Tensor laid_out(const Tensor& values, Tensor memory) { return memory.copy_(values); }

Tensor transposed(const Tensor& values) {
  return laid_out(values, at::empty_like(values.mT(), at::MemoryFormat::Contiguous).mT());
}

Tensor strided(const Tensor& values) {
  std::vector<int64_t> sizes = values.sizes().vec();
  sizes.back() = 2 * sizes.back() + 1;
  return laid_out(values, at::zeros(sizes, values.options())
                              .slice(-1, 1, std::nullopt, 2)
                              .narrow(-1, 0, values.size(-1)));
}

Tensor expanded(const Tensor& values) { return values.narrow(0, 0, 1).expand(values.sizes()); }

struct Word {
  std::string_view word;
  Tensor (*change)(const Tensor&);
};

constexpr std::array kWords = std::to_array<Word>({
    {"special", nullptr},
    {"denormal", nullptr},
    {"distinct", nullptr},
    {"with_nan", &with_nan},
    {"hermitian", [](const Tensor& it) { return (it + it.mH()) / 2 + heavy_diagonal(it); }},
    {"lower", [](const Tensor& it) { return (it + heavy_diagonal(it)).tril(); }},
    {"upper", [](const Tensor& it) { return (it + heavy_diagonal(it)).triu(); }},
    {"transposed", &transposed},
    {"strided", &strided},
    {"expanded", &expanded},
    {"channels_last",
     [](const Tensor& it) {
       return it.contiguous(it.dim() == 5 ? at::MemoryFormat::ChannelsLast3d
                                          : at::MemoryFormat::ChannelsLast);
     }},
});

bool is_recipe_word(std::string_view word) {
  return std::ranges::find(kWords, word, &Word::word) != kWords.end();
}

// Makes the same bits on every machine.
Tensor make_tensor(const Recipe& recipe, const std::string& case_name, const std::string& name) {
  Tensor tensor = values_of(recipe, case_name, name);
  for (const std::string_view word : recipe.words) {
    const Word& found = *std::ranges::find(kWords, word, &Word::word);
    if (found.change != nullptr) tensor = found.change(tensor);
  }
  return tensor;
}

struct ReadValue;
using ReadValues = std::vector<ReadValue>;

// None, a number or a name; a tensor; a list.
struct ReadValue {
  std::string_view text;
  std::variant<Attribute, Recipe, ReadValues> value;
};

struct NamedValue {
  std::string name;
  ReadValue value;
};

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

template <class Number>
std::optional<Number> find_number(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

class CallReader {
 public:
  CallReader(std::string_view text, const CallContext& context) : rest_(text), context_(context) {}

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
    if (!accept(c)) throw TextError(rest_, std::string("expected '") + c + "'");
  }

  std::string_view take(size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view read_until(std::string_view ends) {
    at_end();
    return take(std::min(rest_.find_first_of(ends), rest_.size()));
  }

  NamedValue read_named() {
    const size_t name_size = std::min(rest_.find_first_of("=,[{'"), rest_.size());
    if (!rest_.substr(name_size).starts_with('=')) return {{}, read_value()};
    std::string name(take(name_size));
    expect('=');
    return {std::move(name), read_value()};
  }

  ReadValue read_value() {
    at_end();
    const std::string_view text = rest_;
    auto value = read_variant();
    return {text.substr(0, text.size() - rest_.size()), std::move(value)};
  }

  std::variant<Attribute, Recipe, ReadValues> read_variant() {
    if (accept('[')) return read_list();
    if (accept('\'')) {
      std::string text(read_until("'"));
      expect('\'');
      return Attribute(std::move(text));
    }
    const std::string_view word = read_until(",[]: ");
    if (word.empty()) throw TextError(rest_, "expected a value");
    if (rest_.starts_with('[')) return read_recipe(word);
    return read_word(word);
  }

  template <class Read>
  auto read_items(char end, Read read) {
    std::vector<decltype(read())> items;
    while (!accept(end)) {
      items.push_back(read());
      if (!accept(',') && !rest_.starts_with(end)) expect(end);
    }
    return items;
  }

  ReadValues read_list() {
    return read_items(']', [&] { return read_value(); });
  }

  Attribute read_word(std::string_view word) const {
    if (word == "None") return {};
    if (word == "True") return true;
    if (word == "False") return false;
    if (const auto dtype = find_type(word)) return *dtype;
    if (const auto integer = find_number<int64_t>(word)) return *integer;
    if (const auto number = find_number<double>(word)) return *number;
    return std::string(word);
  }

  Recipe read_recipe(std::string_view type) {
    const auto dtype = find_type(type);
    if (!dtype) throw TextError(type, "unknown dtype " + quoted(type));
    Recipe recipe{.dtype = *dtype};
    expect('[');
    recipe.shape = read_items(']', [&] { return read_number<int64_t>(",]"); });
    if (accept('{')) recipe.values = read_items('}', [&] { return read_number<double>(",}"); });
    while (accept(':')) add_word(recipe, read_until(":,] "));
    return recipe;
  }

  void add_word(Recipe& recipe, std::string_view word) const {
    if (word == "domain") {
      recipe.range = context_.domain;
    } else if (word == "other_domain") {
      recipe.range = context_.other_domain;
    } else if (word.find("..") != std::string_view::npos) {
      recipe.range = read_range(word);
    } else if (is_recipe_word(word)) {
      recipe.words.push_back(word);
    } else {
      throw TextError(word, "unknown tensor word " + quoted(word));
    }
  }

  template <class Number>
  Number read_number(std::string_view ends) {
    const std::string_view word = read_until(ends);
    const auto number = find_number<Number>(word);
    if (!number) throw TextError(word, quoted(word) + " is not a number");
    return *number;
  }

  std::optional<c10::ScalarType> find_type(std::string_view name) const {
    if (name == "x") return context_.dtype;
    return name == "real" ? c10::toRealValueType(context_.dtype) : find_dtype(name);
  }

  std::string_view rest_;
  const CallContext& context_;
};

const c10::Type& without_optional(const c10::Type& type) {
  const auto* optional = type.castRaw<c10::OptionalType>();
  return optional == nullptr ? type : *optional->getElementType();
}

// Null if `type` is not that of a list of tensors.
const c10::ListType* tensor_list_type(const c10::Type& type) {
  const auto* list = without_optional(type).castRaw<c10::ListType>();
  const bool has_tensors = list != nullptr && without_optional(*list->getElementType()).kind() ==
                                                  c10::TypeKind::TensorType;
  return has_tensors ? list : nullptr;
}

Attribute attribute_of(const ReadValue& value) {
  if (const auto* plain = std::get_if<Attribute>(&value.value)) return *plain;
  const auto* items = std::get_if<ReadValues>(&value.value);
  if (items == nullptr) throw TextError(value.text, "unexpected tensor");
  Attribute::List list;
  for (const ReadValue& item : *items) list.push_back(attribute_of(item));
  return list;
}

c10::IValue make_value(const ReadValue& value, const c10::Argument& argument,
                       const std::string& case_name) {
  try {
    if (const auto* recipe = std::get_if<Recipe>(&value.value)) {
      return make_tensor(*recipe, case_name, argument.name());
    }
    const auto* items = std::get_if<ReadValues>(&value.value);
    const c10::ListType* type = tensor_list_type(*argument.type());
    if (items == nullptr || type == nullptr) {
      return to_ivalue(with_argument_type(attribute_of(value), argument), argument);
    }
    c10::impl::GenericList list(type->getElementType());
    for (const ReadValue& item : *items) {
      const auto* recipe = std::get_if<Recipe>(&item.value);
      const std::string name = argument.name() + std::to_string(list.size());
      list.push_back(recipe ? c10::IValue(make_tensor(*recipe, case_name, name)) : c10::IValue());
    }
    return list;
  } catch (const TextError&) {
    throw;
  } catch (const std::exception& error) {
    throw TextError(value.text, error.what());
  }
}

const NamedValue* find_value(const std::vector<NamedValue>& values, size_t position,
                             const std::string& name) {
  if (position < values.size() && values[position].name.empty()) return &values[position];
  const auto named = std::ranges::find(values, name, &NamedValue::name);
  return named == values.end() ? nullptr : &*named;
}

}  // namespace

ValueRange read_range(std::string_view text) {
  const size_t dots = text.find("..");
  const auto low = find_number<double>(text.substr(0, dots));
  const auto high = find_number<double>(text.substr(std::min(dots, text.size() - 2) + 2));
  if (dots == std::string_view::npos || !low || !high || !(*low < *high)) {
    throw TextError(text, quoted(text) + " is not a range: expected LOW..HIGH");
  }
  return {*low, *high};
}

void check_arguments(std::string_view text) { CallReader(text, {}).read(); }

std::vector<c10::IValue> read_arguments(std::string_view text, const c10::FunctionSchema& schema,
                                        const CallContext& context, const std::string& case_name) {
  const std::vector<NamedValue> values = CallReader(text, context).read();
  std::vector<c10::IValue> arguments;
  size_t num_used = 0;
  for (const c10::Argument& argument : schema.arguments()) {
    if (const NamedValue* value = find_value(values, arguments.size(), argument.name())) {
      arguments.push_back(make_value(value->value, argument, case_name));
      ++num_used;
    } else if (argument.default_value()) {
      arguments.push_back(*argument.default_value());
    } else {
      throw TextError(text, "missing value for '" + argument.name() + "'");
    }
  }
  if (num_used != values.size()) {
    throw TextError(text, "the operator does not take " + std::to_string(values.size() - num_used) +
                              " of the values");
  }
  return arguments;
}

}  // namespace torch_ir
