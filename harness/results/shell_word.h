// shell_word: a text as one word of a command that somebody types again.
#pragma once

#include <string>

namespace torch_ir {

// `text` for a shell: as it stands where nothing in it is special, else in single quotes, and with
// control characters, which would break the line, as bash and zsh read $'...'.
std::string shell_word(const std::string& text);

}  // namespace torch_ir
