// Text of files, processes and notes, made ready to be shown: what pages of all kinds have in
// common.
#pragma once

#include <string>
#include <string_view>

namespace torch_ir {

// `text` with its line breaks and tabs, and with all else that printable.h escapes escaped as
// there, however long it is.
std::string shown_text(std::string_view text);

// `text`, which may be a note of a few words, as a sentence: with a capital, unless its first word
// is a name, and with a full stop.
std::string as_sentence(std::string text);

}  // namespace torch_ir
