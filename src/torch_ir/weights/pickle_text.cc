#include "torch_ir/weights/pickle_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// Python's own numbers have no limit; no weight is counted with one of these.
constexpr size_t kMaxLongSize = 1024;

PickleValue big_integer(std::string text) { return {PickleValue::BigInteger{std::move(text)}}; }

// The magnitude of a negative number, in place.
void negate(std::string& bytes) {
  unsigned carry = 1;
  for (char& byte : bytes) {
    const unsigned sum = (~static_cast<unsigned char>(byte) & 0xffu) + carry;
    byte = static_cast<char>(sum);
    carry = sum >> 8;
  }
}

std::string hex_text(std::string_view bytes, bool is_negative) {
  std::string magnitude(bytes);
  if (is_negative) negate(magnitude);
  std::string digits;
  for (auto byte = magnitude.rbegin(); byte != magnitude.rend(); ++byte) {
    digits += fmt::format("{:02x}", static_cast<unsigned char>(*byte));
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return (is_negative ? "-0x" : "0x") + digits;
}

// The code of `digits` hexadecimal digits at the beginning of `text`, which loses them.
char32_t take_hex(std::string_view& text, size_t digits) {
  uint32_t code = 0;
  const char* end = text.data() + std::min(digits, text.size());
  const auto result = std::from_chars(text.data(), end, code, 16);
  if (digits > text.size() || result.ec != std::errc() || result.ptr != end) {
    throw WeightError("an escape without its hexadecimal digits");
  }
  text.remove_prefix(digits);
  return code;
}

char take_octal(std::string_view& text) {
  unsigned code = 0;
  for (size_t i = 0; i < 3 && !text.empty() && text[0] >= '0' && text[0] <= '7'; ++i) {
    code = code * 8 + static_cast<unsigned>(text[0] - '0');
    text.remove_prefix(1);
  }
  return static_cast<char>(code);
}

// What follows a backslash, which `text` loses.
void append_escaped(std::string& result, std::string_view& text) {
  constexpr std::string_view kLetters = "abfnrtv\\'\"";
  constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\'\"";
  if (text.empty()) throw WeightError("a string that ends in a backslash");
  const char letter = text[0];
  if (letter >= '0' && letter <= '7') {
    result += take_octal(text);
    return;
  }
  text.remove_prefix(1);
  if (const size_t index = kLetters.find(letter); index != std::string_view::npos) {
    result += kMeanings[index];
  } else if (letter == 'x') {
    result += static_cast<char>(take_hex(text, 2));
  } else {
    result += '\\';
    result += letter;
  }
}

}  // namespace

void append_utf8(std::string& text, char32_t code) {
  const auto continuation = [&](int shift) {
    text += static_cast<char>(0x80 | ((code >> shift) & 0x3f));
  };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | code >> 6);
    continuation(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | code >> 12);
    continuation(6);
    continuation(0);
  } else if (code < 0x110000) {
    text += static_cast<char>(0xf0 | code >> 18);
    continuation(12);
    continuation(6);
    continuation(0);
  } else {
    throw WeightError("a character beyond Unicode");
  }
}

PickleValue decode_long(std::string_view bytes) {
  if (bytes.size() > kMaxLongSize) {
    throw WeightError(fmt::format("an integer of {} bytes", bytes.size()));
  }
  const bool is_negative = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80) != 0;
  const char extension = is_negative ? '\xff' : '\0';
  std::string_view digits = bytes;
  while (digits.size() > sizeof(int64_t) && digits.back() == extension) digits.remove_suffix(1);
  const bool keeps_sign = digits.size() < sizeof(int64_t) ||
                          ((static_cast<unsigned char>(digits.back()) & 0x80) != 0) == is_negative;
  if (digits.size() > sizeof(int64_t) || !keeps_sign) {
    return big_integer(hex_text(bytes, is_negative));
  }
  uint64_t value = is_negative ? ~uint64_t{0} : 0;
  for (auto byte = digits.rbegin(); byte != digits.rend(); ++byte) {
    value = value << 8 | static_cast<unsigned char>(*byte);
  }
  return {static_cast<int64_t>(value)};
}

PickleValue parse_long(std::string_view text) {
  std::string_view digits = text;
  if (digits.ends_with('L')) digits.remove_suffix(1);
  int64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, value);
  if (digits.empty() || result.ptr != end || digits.size() > kMaxLongSize) {
    throw WeightError(fmt::format("'{}' where an integer belongs", printable(text)));
  }
  if (result.ec == std::errc::result_out_of_range) return big_integer(std::string(digits));
  return {value};
}

double parse_double(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (text.empty() || result.ptr != end || result.ec == std::errc::invalid_argument) {
    throw WeightError(fmt::format("'{}' where a number belongs", printable(text)));
  }
  return value;
}

std::string unescape_string(std::string_view text) {
  const char quote = text.empty() ? '\0' : text[0];
  if (text.size() < 2 || (quote != '\'' && quote != '"') || text.back() != quote) {
    throw WeightError("a string without quotes");
  }
  text = text.substr(1, text.size() - 2);
  std::string result;
  while (!text.empty()) {
    const char letter = text[0];
    text.remove_prefix(1);
    if (letter == '\\') {
      append_escaped(result, text);
    } else {
      result += letter;
    }
  }
  return result;
}

std::string unescape_unicode(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t digits = text.starts_with("\\u") ? 4 : text.starts_with("\\U") ? 8 : 0;
    if (digits > 0) {
      text.remove_prefix(2);
      append_utf8(result, take_hex(text, digits));
    } else {
      append_utf8(result, static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
    }
  }
  return result;
}

}  // namespace torch_ir
