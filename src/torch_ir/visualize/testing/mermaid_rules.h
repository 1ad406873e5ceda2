// check_mermaid: checks the rules under which GitHub draws a diagram.
//
// Covers only rules that a parser does not check: a diagram can parse and still be drawn as an
// error, or incompletely. //harness/report:mermaid_test lets Mermaid parse diagrams.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

// Returns the problems of `text`, the content of a ```mermaid block, one line each. The rules:
// - at most 500 edges and 50,000 characters;
// - no label with an empty line, with "#" outside of an entity code, with "<" outside of "<br/>",
//   or with a line that Markdown takes for code, a list or a quotation;
// - pies: no backslash in a label, no duplicate label, and no slice under one percent (which is not
//   drawn) except the last.
std::vector<std::string> check_mermaid(std::string_view text);

// Returns the contents of all ```mermaid blocks of `page`.
std::vector<std::string> mermaid_blocks(const std::string& page);

}  // namespace torch_ir
