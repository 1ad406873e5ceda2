// Kinds of ASCII characters, whatever the locale.
#pragma once

namespace torch_ir {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

constexpr bool is_alphanumeric(char c) { return is_letter(c) || is_digit(c); }

// Of Python's names.
constexpr bool is_name_start(char c) { return is_letter(c) || c == '_'; }
constexpr bool is_name_part(char c) { return is_alphanumeric(c) || c == '_'; }

}  // namespace torch_ir
