// Text of files, processes and notes, made ready to be shown: as it is, as Markdown, of which
// GitHub shows exactly the text, whatever is in it, and inside XML 1.0.
//
// Called by the pages and junit.xml. What a terminal would obey is escaped, see shown_text.
#pragma once

#include <string>
#include <string_view>

namespace torch_ir {

// `text` as running text, on one line: no character of it is markup.
std::string escape_markdown(std::string_view text);

// `text` as code within a line; empty for an empty text.
std::string code_span(std::string_view text);

// `markdown`, made by the functions above, as a cell of a table.
std::string table_cell(std::string_view markdown);

// `text` as a code block, from fence to fence, with a line break at the end; `language` as in
// "cpp", "mermaid".
std::string code_block(std::string_view text, std::string_view language = "");

// `text` with its line breaks and tabs, and with all else that printable.h escapes escaped as
// there, however long it is.
std::string shown_text(std::string_view text);

// `text`, which may be a note of a few words, as a sentence: with a capital, unless its first word
// is a name, and with a full stop.
std::string as_sentence(std::string text);

// `text` as the content of an element, and as an attribute in double quotes. A parser gives back
// the same text, but for what XML can not hold and a terminal should not show: control characters
// other than line breaks and tabs, and bytes that are no UTF-8, which are escaped as printable.h
// does it.
std::string xml_text(std::string_view text);
std::string xml_attribute(std::string_view text);

}  // namespace torch_ir
