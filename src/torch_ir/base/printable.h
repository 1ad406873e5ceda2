// Text from a file or a library as part of a message.
//
// Used wherever a message repeats what another program wrote, so that no file can break the line,
// move the cursor of a terminal or drown the message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

// `text` with control characters, characters that change the direction of text, and bytes that are
// no UTF-8 written as \xNN, one for each byte. A text of more than `max_size` bytes is cut, and
// ends in "...".
std::string printable(std::string_view text, size_t max_size = 256);

// "'a', 'b'": names, printable; of more than `max_shown` the first ones, with ", ..." behind them.
std::string quoted_list(const std::vector<std::string>& names,
                        size_t max_shown = static_cast<size_t>(-1));

// The first line of `text` that is not blank, for where there is only room for one: a cell of a
// table, a line of progress, an error that wraps another. Where it ends with a colon, what it
// announces follows it: the next line, without its indent and its bullet. Printable.
std::string headline(std::string_view text);

// What a person would read of a message, however much a library has to say.
inline constexpr size_t kMaxMessageSize = 400;

// All of `text` on one line, with single spaces for blanks and control characters. What is longer
// than `max_size` has " ... " in the middle: the end often says what to do. Long words, such as
// paths, count as short ones up to a size of 1000, as nothing else would say what they do.
std::string short_line(std::string_view text, size_t max_size = kMaxMessageSize);

// The part of `line` between its blanks: spaces, tabs, and the rest of another system's line break.
std::string_view trimmed(std::string_view line);

// How many bytes the character at the start of `text` has; 0 where there is no UTF-8.
size_t character_size(std::string_view text);

}  // namespace torch_ir
