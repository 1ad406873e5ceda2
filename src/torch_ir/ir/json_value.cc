#include "torch_ir/ir/json_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// nlohmann/json does not parse bare NaN and Infinity. They are replaced by numbers of the same
// length, so that positions in messages stay right. These numbers have an upper-case E, and every
// other exponent of the text is made lower-case, so that none can be mistaken for another.
struct NonFinite {
  std::string_view token;
  std::string_view stand_in;
  double value;
};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr NonFinite kNonFinite[] = {
    {"NaN", "0E0", std::numeric_limits<double>::quiet_NaN()},
    {"Infinity", "0E000000", kInfinity},
    {"-Infinity", "-0E000000", -kInfinity},
};

bool ends_token(char c) {
  return std::string_view(" \t\r\n,:[]{}").find(c) != std::string_view::npos;
}

// Returns the position after the string that starts at `begin`, or the end of the text.
size_t skip_string(std::string_view text, size_t begin) {
  for (size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return text.size();
}

void replace_token(std::string& text, size_t begin, size_t end) {
  const std::string_view token = std::string_view(text).substr(begin, end - begin);
  for (const NonFinite& number : kNonFinite) {
    if (token == number.token) {
      text.replace(begin, token.size(), number.stand_in);
      return;
    }
  }
  std::replace(text.begin() + begin, text.begin() + end, 'E', 'e');
}

std::string with_stand_ins(std::string_view original) {
  std::string text(original);
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '"') {
      i = skip_string(text, i);
    } else if (ends_token(text[i])) {
      ++i;
    } else {
      size_t end = i;
      while (end < text.size() && text[end] != '"' && !ends_token(text[end])) ++end;
      replace_token(text, i, end);
      i = end;
    }
  }
  return text;
}

const std::string* find_duplicate(std::span<const std::string> keys) {
  constexpr size_t kFew = 16;
  if (keys.size() <= kFew) {
    for (size_t i = 1; i < keys.size(); ++i) {
      if (std::ranges::find(keys.first(i), keys[i]) != keys.begin() + i) return &keys[i];
    }
    return nullptr;
  }
  std::unordered_set<std::string_view> seen;
  seen.reserve(keys.size());
  for (const std::string& key : keys) {
    if (!seen.insert(key).second) return &key;
  }
  return nullptr;
}

// Builds the tree from nlohmann's events. The members of an open object wait on two stacks, since
// an object that grows copies its members and compares every key.
class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, bool has_stand_ins)
      : text_(text), has_stand_ins_(has_stand_ins) {}

  JsonValue take_root() { return std::move(values_.front()); }

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(int64_t value) { return add(value); }
  bool number_unsigned(uint64_t value) {
    return std::in_range<int64_t>(value) ? add(static_cast<int64_t>(value)) : add(value);
  }
  bool number_float(double value, const std::string& text) {
    if (has_stand_ins_) {
      for (const NonFinite& number : kNonFinite) {
        if (text == number.stand_in) return add(number.value);
      }
    }
    if (text.find_first_of(".eE") == std::string::npos) {
      open_.push_back({.position = next_position()});
      fail(fmt::format("the integer {} does not fit into 64 bits", printable(text)));
    }
    return add(value);
  }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(JsonValue::binary_t&) { return false; }  // JSON text has no binary values.

  bool start_object(size_t) { return open(nullptr, next_position()); }
  bool key(std::string& value) {
    keys_.push_back(std::move(value));
    return true;
  }
  bool end_object() {
    const Container object = open_.back();
    const std::span<std::string> keys = std::span(keys_).subspan(object.first_key);
    if (const std::string* key = find_duplicate(keys)) {
      fail(fmt::format("duplicate key '{}'", printable(*key)));
    }
    JsonValue::object_t members;
    members.reserve(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      members.emplace_back(std::move(keys[i]), std::move(values_[object.first_value + i]));
    }
    keys_.resize(object.first_key);
    values_.resize(object.first_value);
    open_.pop_back();
    return add(std::move(members));
  }
  bool start_array(size_t) {
    const size_t position = next_position();
    JsonValue list = JsonValue::array();
    auto* items = list.get_ptr<JsonValue::array_t*>();
    add(std::move(list));
    return open(items, position);
  }
  bool end_array() {
    open_.pop_back();
    return true;
  }

  // `num_read` characters were read; one more than there are at the end of the text. The words and
  // tokens of the library differ between its versions.
  bool parse_error(size_t num_read, const std::string&, const nlohmann::json::exception& error) {
    constexpr int kNumberOverflow = 406;
    constexpr size_t kMaxToken = 100;
    const size_t last = std::max<size_t>(num_read, 1) - 1;
    const std::string_view before = text_.substr(0, last);
    std::string problem = "unexpected end of the text";
    if (last < text_.size()) {
      size_t begin = last;
      while (begin > 0 && !ends_token(text_[begin]) && !ends_token(text_[begin - 1])) --begin;
      problem = (error.id == kNumberOverflow ? "number beyond double '" : "unexpected '") +
                printable(text_.substr(begin, num_read - begin), kMaxToken) + "'";
    }
    throw SerializationError(fmt::format("not valid JSON: line {}, column {}: {}",
                                         std::ranges::count(before, '\n') + 1,
                                         last - before.rfind('\n'), problem));
  }

 private:
  struct Container {
    // Null for an object, whose members are on the stacks.
    JsonValue::array_t* list = nullptr;
    size_t first_key = 0;
    size_t first_value = 0;
    // The index in the enclosing list, or the position of its key.
    size_t position = 0;
  };

  size_t next_position() const {
    if (open_.empty()) return 0;
    return open_.back().list != nullptr ? open_.back().list->size() : keys_.size() - 1;
  }

  template <class T>
  bool add(T&& value) {
    if (!open_.empty() && open_.back().list != nullptr) {
      open_.back().list->emplace_back(std::forward<T>(value));
    } else {
      values_.emplace_back(std::forward<T>(value));
    }
    return true;
  }

  bool open(JsonValue::array_t* list, size_t position) {
    if (open_.size() == kMaxJsonDepth) {
      throw SerializationError("nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
    }
    open_.push_back({list, keys_.size(), values_.size(), position});
    return true;
  }

  // Prefixes `what` with the innermost container: "nodes[3].attrs: WHAT".
  [[noreturn]] void fail(const std::string& what) const {
    std::string place;
    for (size_t i = 1; i < open_.size(); ++i) {
      if (open_[i - 1].list != nullptr) {
        place += fmt::format("[{}]", open_[i].position);
      } else {
        place += (place.empty() ? "" : ".") + printable(keys_[open_[i].position]);
      }
    }
    throw SerializationError(place.empty() ? what : place + ": " + what);
  }

  // As given, without stand-ins.
  std::string_view text_;
  bool has_stand_ins_;
  std::vector<Container> open_;
  std::vector<std::string> keys_;
  std::vector<JsonValue> values_;
};

// Counts the values of `text` if it is JSON; empty containers count twice: every value follows a
// comma, begins a container or is the root. Throws for a number that is too long.
size_t count_values(std::string_view text) {
  size_t count = 1;
  size_t num_digits = 0;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '"') {
      i = skip_string(text, i);
      continue;
    }
    const char c = text[i++];
    count += c == ',' || c == '[' || c == '{';
    num_digits = c >= '0' && c <= '9' ? num_digits + 1 : 0;
    if (num_digits > kMaxJsonDigits) {
      throw SerializationError(fmt::format("a number has more than {} digits", kMaxJsonDigits));
    }
  }
  return count;
}

void append_string(std::string_view value, std::string& text) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (std::ranges::all_of(value, is_plain)) {
    text.append(1, '"').append(value).append(1, '"');
    return;
  }
  try {
    text += JsonValue(value).dump(-1, ' ', /*ensure_ascii=*/true);
  } catch (const JsonValue::type_error&) {
    throw SerializationError("invalid UTF-8 in a string: '" + printable(value) + "'");
  }
}

void append_value(const JsonValue& value, size_t depth, std::string& text) {
  const auto begin_line = [&](size_t level) { text.append(1, '\n').append(2 * level, ' '); };
  if (value.is_structured()) {
    text += value.is_array() ? '[' : '{';
    for (auto item = value.begin(); item != value.end(); ++item) {
      if (item != value.begin()) text += ',';
      begin_line(depth + 1);
      if (value.is_object()) {
        append_string(item.key(), text);
        text += ": ";
      }
      append_value(*item, depth + 1, text);
    }
    if (!value.empty()) begin_line(depth);
    text += value.is_array() ? ']' : '}';
  } else if (const auto* string = value.get_ptr<const std::string*>()) {
    append_string(*string, text);
  } else if (value.is_number_float()) {
    text += python_float(value.get<double>());
  } else if (value.type() == JsonValue::value_t::number_integer) {
    text += std::to_string(value.get<int64_t>());
  } else {
    text += value.dump();
  }
}

}  // namespace

JsonValue parse_json(std::string_view text, size_t max_values) {
  // Each value takes at least a byte.
  if (text.size() > max_values && count_values(text) > max_values) {
    throw SerializationError("more than " + std::to_string(max_values) + " values");
  }
  const bool may_have_non_finite =
      text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos;
  TreeBuilder builder(text, may_have_non_finite);
  if (may_have_non_finite) {
    nlohmann::json::sax_parse(with_stand_ins(text), &builder);
  } else {
    nlohmann::json::sax_parse(text, &builder);
  }
  return builder.take_root();
}

const char* kind_of(const JsonValue& value) {
  // In the order of the library's value_t.
  constexpr const char* kKinds[] = {"null",
                                    "an object",
                                    "a list",
                                    "a string",
                                    "a boolean",
                                    "an integer",
                                    "an integer beyond 63 bits",
                                    "a float"};
  return kKinds[static_cast<size_t>(value.type())];
}

std::string python_json(const JsonValue& value) {
  std::string text;
  append_value(value, 0, text);
  return text;
}

std::string python_float(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace torch_ir
