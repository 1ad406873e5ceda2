// Text as Markdown: GitHub shows exactly the text, whatever is in it. What a terminal would obey is
// escaped, see shown_text.
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

}  // namespace torch_ir
