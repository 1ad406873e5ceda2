#include "torch_ir/ir/json_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// nlohmann/json reads no bare NaN and Infinity. Before it sees a text that has them, each is
// replaced by a number of the same length, so that positions in messages stay right. These
// numbers have an upper-case E, and every other exponent of the text is made lower-case, so that
// none can be mistaken for another.
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

// Past the string that starts at `begin`, or the end of the text.
size_t skip_string(std::string_view text, size_t begin) {
  for (size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return text.size();
}

// Replaces the token of `text` (a number, a word) between `begin` and `end`.
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

// Builds the tree from nlohmann's events.
class TreeBuilder {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  explicit TreeBuilder(bool has_stand_ins) : has_stand_ins_(has_stand_ins) {}

  JsonValue take_root() { return std::move(root_); }

  bool null() { return add(std::monostate()); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(number_integer_t value) { return add(int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) {
    if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return add(static_cast<int64_t>(value));
    }
    return add(uint64_t{value});
  }
  bool number_float(number_float_t value, const string_t& text) {
    if (has_stand_ins_) {
      for (const NonFinite& number : kNonFinite) {
        if (text == number.stand_in) return add(number.value);
      }
    }
    if (text.find_first_of(".eE") == std::string::npos) {
      next_slot();
      throw SerializationError(place(open_.size()) + "the integer " + printable(text) +
                               " does not fit into 64 bits");
    }
    return add(double{value});
  }
  bool string(string_t& value) { return add(std::move(value)); }
  bool binary(binary_t&) { return false; }  // No text has it.

  bool start_object(size_t) { return push(JsonValue::Object()); }
  bool key(string_t& value) {
    open_.back()->get_if<JsonValue::Object>()->emplace_back().first = std::move(value);
    return true;
  }
  bool end_object() {
    check_keys(*open_.back()->get_if<JsonValue::Object>());
    open_.pop_back();
    return true;
  }
  bool start_array(size_t) { return push(JsonValue::List()); }
  bool end_array() {
    open_.pop_back();
    return true;
  }

  bool parse_error(size_t, const std::string&, const nlohmann::json::exception& error) {
    // Without the library's own "[json.exception.parse_error.101] ".
    constexpr size_t kMaxWhat = 1000;
    const std::string_view what = error.what();
    throw SerializationError("not valid JSON: " +
                             printable(what.substr(what.find("] ") + 2), kMaxWhat));
  }

 private:
  // Where the next value goes: into the last member of an object, a new item of a list.
  JsonValue& next_slot() {
    if (open_.empty()) return root_;
    if (auto* list = open_.back()->get_if<JsonValue::List>()) return list->emplace_back();
    return open_.back()->get_if<JsonValue::Object>()->back().second;
  }

  template <class T>
  bool add(T value) {
    next_slot().set(std::move(value));
    return true;
  }

  // Only the innermost container grows while it is open, so pointers to the outer ones stay valid.
  template <class T>
  bool push(T container) {
    if (open_.size() == kMaxJsonDepth) {
      throw SerializationError("nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
    }
    JsonValue& slot = next_slot();
    slot.set(std::move(container));
    open_.push_back(&slot);
    return true;
  }

  void check_keys(const JsonValue::Object& object) const {
    if (const std::string* key = find_duplicate(object)) {
      throw SerializationError(place(open_.size() - 1) + "the key '" + printable(*key) +
                               "' occurs twice");
    }
  }

  static const std::string* find_duplicate(const JsonValue::Object& object) {
    constexpr size_t kFew = 16;
    if (object.size() <= kFew) {
      for (size_t i = 1; i < object.size(); ++i) {
        for (size_t j = 0; j < i; ++j) {
          if (object[i].first == object[j].first) return &object[i].first;
        }
      }
      return nullptr;
    }
    std::unordered_set<std::string_view> seen;
    seen.reserve(object.size());
    for (const auto& [key, value] : object) {
      if (!seen.insert(key).second) return &key;
    }
    return nullptr;
  }

  // "nodes[3].attrs: ", the last value of each of the `depth` outermost containers.
  std::string place(size_t depth) const {
    std::string text;
    for (size_t i = 0; i < depth; ++i) {
      if (const auto* list = open_[i]->get_if<JsonValue::List>()) {
        text += '[' + std::to_string(list->size() - 1) + ']';
      } else {
        if (!text.empty()) text += '.';
        text += printable(open_[i]->get_if<JsonValue::Object>()->back().first);
      }
    }
    return text.empty() ? text : text + ": ";
  }

  bool has_stand_ins_;
  JsonValue root_;
  std::vector<JsonValue*> open_;
};

JsonValue parse(std::string_view text, bool has_stand_ins) {
  TreeBuilder builder(has_stand_ins);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take_root();
}

bool may_have_non_finite(std::string_view text) {
  return text.find("NaN") != std::string_view::npos ||
         text.find("Infinity") != std::string_view::npos;
}

// How many values `text` has, if it is JSON; empty containers count twice: every value follows a
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
      throw SerializationError(fmt::format("a number of more than {} digits", kMaxJsonDigits));
    }
  }
  return count;
}

struct KindName {
  const char* operator()(std::monostate) const { return "null"; }
  const char* operator()(bool) const { return "a boolean"; }
  const char* operator()(int64_t) const { return "an integer"; }
  const char* operator()(uint64_t) const { return "an integer beyond 63 bits"; }
  const char* operator()(double) const { return "a float"; }
  const char* operator()(const std::string&) const { return "a string"; }
  const char* operator()(const JsonValue::List&) const { return "a list"; }
  const char* operator()(const JsonValue::Object&) const { return "an object"; }
};

}  // namespace

const char* JsonValue::kind() const { return std::visit(KindName(), value_); }

JsonValue parse_json(std::string_view text) { return parse_json(text, kMaxJsonValues); }

JsonValue parse_json(std::string_view text, size_t max_values) {
  // Each takes a byte at least.
  if (text.size() > max_values && count_values(text) > max_values) {
    throw SerializationError("more than " + std::to_string(max_values) + " values");
  }
  if (may_have_non_finite(text)) return parse(with_stand_ins(text), true);
  return parse(text, false);
}

}  // namespace torch_ir
