// check_mermaid: does a diagram obey the rules under which GitHub draws it?
//
// For tests of everything that writes Mermaid. It reads the Mermaid that this project writes (a
// statement a line, labels in double quotes) and takes everything else for a mistake. The rules
// are those that a parser does not tell: a diagram can parse and still be drawn as an error, or
// without some of its parts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

// What is wrong with `text`, the content of a ```mermaid block, one line each with the number of
// the line; empty when nothing is. The rules:
// - at most 500 edges and 50,000 characters;
// - identifiers of letters, digits and underscores that are no keywords, each one declared once and
//   before an arrow uses it; arrows stand between spaces;
// - labels in double quotes, not empty, with "#" only in entity codes and "<" only in "<br/>", and
//   no line that Markdown takes for code, a list, a heading or a quotation;
// - pies: no backslash in a label, no label twice, values above 0 in plain digits, no slice under
//   one percent (which is not drawn) but the last; a pie without slices needs a title.
std::vector<std::string> check_mermaid(std::string_view text);

}  // namespace torch_ir
