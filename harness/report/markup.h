// Escapes text from files, processes and notes for Markdown, as GitHub shows it, and for XML 1.0.
// Characters that would control a terminal are escaped too (shown_text).
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace torch_ir {

// `text` as running text on one line, with all markup escaped.
std::string escape_markdown(std::string_view text);

// `text` as inline code; empty for an empty text.
std::string code_span(std::string_view text);

// `markdown`, made by the functions above, as a table cell.
std::string table_cell(std::string_view markdown);

// How a sentence shows names and other text that it is given, and what should be seen first.
using Format = std::function<std::string(const std::string&)>;
struct Style {
  Format code;
  Format text;
  Format strong;
};
extern const Style kMarkdown;
// For index.html, terminals and JUnit.
extern const Style kPlain;

// `text` as a fenced code block with a final newline; `language` as in "cpp", "mermaid".
std::string code_block(std::string_view text, std::string_view language = "");

// Keeps line breaks and tabs, and escapes other characters as printable.h does, without its limit.
std::string shown_text(std::string_view text);

// `text` with a capital, unless its first word is a name, and a full stop.
std::string as_sentence(std::string text);

// `text` for an element and for an attribute in double quotes. A parser returns the same text,
// except that control characters other than line breaks and tabs, and invalid UTF-8, are escaped as
// in printable.h.
std::string xml_text(std::string_view text);
std::string xml_attribute(std::string_view text);

}  // namespace torch_ir
