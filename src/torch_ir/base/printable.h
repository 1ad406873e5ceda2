// Text from a file as part of a message.
//
// Used wherever a message repeats what a file says, so that no file can break the line, move the
// cursor of a terminal or drown the message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace torch_ir {

// `text` with control characters, characters that change the direction of text, and bytes that are
// no UTF-8 written as \xNN, one for each byte. A text of more than `max_size` bytes is cut, and
// ends in "...".
std::string printable(std::string_view text, size_t max_size = 256);

}  // namespace torch_ir
