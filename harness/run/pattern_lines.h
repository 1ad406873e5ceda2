// Lists that a team keeps, with a line for each name or pattern of models and cases:
//
//   # The converter has no data-dependent masks yet.
//   TiedDecoder: extract unsupported: data-dependent masks
//   aten.*/*/denormal: output mismatch: the chip has no denormals
//
// `*` stands for any text, also with `.` and `/`. '#' begins a comment.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

struct PatternLine {
  // A name, or a pattern with `*`.
  std::string name = {};
  // What follows the colon.
  std::string content = {};
  // The lines with '#' right above it.
  std::string comments = {};
  int line = 0;
};

bool is_pattern(std::string_view name);
bool matches_pattern(std::string_view pattern, std::string_view name);

// Calls `use` for each line, and returns the other comments, each block with a blank line below it.
// An Error of `use` gets "FILE:LINE: " before it; `file` is the name of the list in messages.
std::string read_pattern_lines(std::string_view text, const std::string& file,
                               const std::function<void(const PatternLine&)>& use);

// The line for `name`: that with this name, or else the first pattern for which `fits` holds. Null
// if there is none.
template <class Line, class Fits>
const Line* find_line(const std::vector<Line>& lines, std::string_view name, const Fits& fits) {
  auto found = std::ranges::find(lines, name, &Line::name);
  if (found == lines.end()) {
    found = std::ranges::find_if(
        lines, [&](const Line& line) { return is_pattern(line.name) && fits(line); });
  }
  return found == lines.end() ? nullptr : &*found;
}

// One list may serve several runs, so it may name what this one does not know. Throws
// Error("FILE:LINE: ...") for a name that is a mistyped one of `known`.
void check_spelling(const std::string& name, int line, const std::string& file,
                    const std::vector<std::string>& known);

template <class Line>
void check_spelling(const std::vector<Line>& lines, const std::string& file,
                    const std::vector<std::string>& known) {
  for (const Line& line : lines) check_spelling(line.name, line.line, file, known);
}

}  // namespace torch_ir
