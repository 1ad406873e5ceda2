// check_mermaid: does a diagram obey the rules under which GitHub draws it?
//
// For tests of everything that writes Mermaid. Only what a parser does not tell: a diagram can
// parse and still be drawn as an error, or without some of its parts. Whether it parses is asked of
// Mermaid itself, by //harness/report:mermaid_test.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

// What is wrong with `text`, the content of a ```mermaid block, one line each; empty when nothing
// is. The rules:
// - at most 500 edges and 50,000 characters;
// - no label with an empty line, with "#" outside of an entity code, with "<" outside of "<br/>",
// or
//   with a line that Markdown takes for code, a list or a quotation;
// - pies: no backslash in a label, no label twice, and no slice under one percent (which is not
//   drawn) but the last.
std::vector<std::string> check_mermaid(std::string_view text);

// The contents of all ```mermaid blocks of `page`.
std::vector<std::string> mermaid_blocks(const std::string& page);

}  // namespace torch_ir
