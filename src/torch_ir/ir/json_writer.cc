#include "torch_ir/ir/json_writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/json_numbers.h"

namespace torch_ir {
namespace {

bool is_plain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

std::string escaped(std::string_view value) {
  try {
    return nlohmann::json(value).dump(-1, ' ', /*ensure_ascii=*/true);
  } catch (const nlohmann::json::type_error&) {
    throw SerializationError("a name or a text is not valid UTF-8: '" + printable(value) + "'");
  }
}

}  // namespace

void JsonWriter::key(std::string_view name) {
  separate();
  quoted(name);
  text_ += ": ";
  after_key_ = true;
}

void JsonWriter::integer(int64_t value) { raw(std::to_string(value)); }

void JsonWriter::unsigned_integer(uint64_t value) { raw(std::to_string(value)); }

void JsonWriter::floating(double value) { raw(python_float(value)); }

void JsonWriter::string(std::string_view value) {
  separate();
  quoted(value);
}

void JsonWriter::raw(std::string_view json) {
  separate();
  text_ += json;
}

void JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  has_values_.push_back(false);
}

void JsonWriter::close(char bracket) {
  const bool has_values = has_values_.back();
  has_values_.pop_back();
  if (has_values) new_line();
  text_ += bracket;
}

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_values_.empty()) return;
  if (has_values_.back()) text_ += ',';
  has_values_.back() = true;
  new_line();
}

void JsonWriter::new_line() {
  text_ += '\n';
  text_.append(2 * has_values_.size(), ' ');
}

void JsonWriter::quoted(std::string_view value) {
  if (std::ranges::all_of(value, is_plain)) {
    text_ += '"';
    text_ += value;
    text_ += '"';
  } else {
    text_ += escaped(value);
  }
}

}  // namespace torch_ir
