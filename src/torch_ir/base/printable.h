// Makes text from files and libraries safe for messages: it cannot break the line, move the cursor
// of a terminal or drown the message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

// Writes control characters, characters that change the direction of text, and bytes that are not
// UTF-8 as \xNN, one for each byte. A text longer than `max_size` bytes is cut and ends in "...".
std::string printable(std::string_view text, size_t max_size = 256);

// "'a', 'b'": printable names, as many as listed (text.h) shows.
std::string quoted_list(const std::vector<std::string>& names,
                        size_t max_shown = static_cast<size_t>(-1));

// The same with at most eight; "nothing" for none.
std::string few_names(const std::vector<std::string>& names);

// The first line of `text` that is not blank, printable, for places with room for one line. If it
// ends with a colon, the next line follows, without its indent and bullet.
std::string headline(std::string_view text);

inline constexpr size_t kMaxMessageSize = 400;

// Puts `text` on one line, with single spaces for blanks and control characters. A text longer than
// `max_size` is cut in the middle (" ... "), since the end often says what to do. Long words, such
// as paths, count as short ones, up to a total of 1000 bytes.
std::string short_line(std::string_view text, size_t max_size = kMaxMessageSize);

std::string_view trimmed(std::string_view line);

// A character, by its length in bytes and its code point; both are 0 for invalid UTF-8.
struct Character {
  size_t length;
  char32_t code;
};

// The character at the start of `text`, which is not empty.
Character first_character(std::string_view text);

}  // namespace torch_ir
