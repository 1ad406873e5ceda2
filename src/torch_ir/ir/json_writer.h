// JSON text as Python's json.dump(..., indent=2) writes it, built piece by piece.
//
// Used by serialize_ir and for constants. Values come in the order in which they stand in the text;
// the writer supplies commas, line breaks and indentation. Text outside ASCII is escaped.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torch_ir {

class JsonWriter {
 public:
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_list() { open('['); }
  void end_list() { close(']'); }
  // The key of the object's next member, for its value to follow: key("a").integer(1).
  JsonWriter& key(std::string_view name);

  void null() { raw("null"); }
  void boolean(bool value) { raw(value ? "true" : "false"); }
  void integer(int64_t value) { raw(std::to_string(value)); }
  void unsigned_integer(uint64_t value) { raw(std::to_string(value)); }
  void floating(double value);
  // Throws SerializationError when `value` is not UTF-8.
  void string(std::string_view value);
  // A value that is JSON already.
  void raw(std::string_view json);

  // A list of what `write(item)` writes for each of the items.
  template <class Items, class Write>
  void list(const Items& items, const Write& write) {
    begin_list();
    for (const auto& item : items) write(item);
    end_list();
  }

  // The whole text; the writer is empty afterwards.
  std::string take() { return std::move(text_); }

 private:
  void open(char bracket);
  void close(char bracket);
  // What stands between the value before and the next one.
  void separate();
  void new_line();
  void quoted(std::string_view value);

  std::string text_;
  // For each open container, whether it has a value.
  std::vector<bool> has_values_;
  bool after_key_ = false;
};

// Python's repr(value), with JSON's words: "1.0", "0.1", "1e-05", "1e+16", "-0.0", "NaN",
// "Infinity", "-Infinity".
std::string python_float(double value);

// `value`, an element of a tensor of the floating-point type `dtype`, with the fewest digits that
// give the same element back, through double: "0.1" for the float32 nearest to 0.1. Throws
// SerializationError for a dtype whose elements are not floats.
std::string python_float(double value, c10::ScalarType dtype);

}  // namespace torch_ir
