// JSON text as Python's json.dump(..., indent=2) writes it, built piece by piece.
//
// Used by json.cc. Values come in the order in which they stand in the text; the writer supplies
// commas, line breaks and indentation. Text outside ASCII is escaped.
#pragma once

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
  // The key of the object's next member.
  void key(std::string_view name);

  void null() { raw("null"); }
  void boolean(bool value) { raw(value ? "true" : "false"); }
  void integer(int64_t value);
  void unsigned_integer(uint64_t value);
  void floating(double value);
  // Throws SerializationError when `value` is not UTF-8.
  void string(std::string_view value);
  // A value that is JSON already.
  void raw(std::string_view json);

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

}  // namespace torch_ir
