// What the programs have in common: their version, what a stream of theirs may show, how they say
// what went wrong, and how they end.
//
// Used by the main functions of torch-ir and the harness.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace torch_ir {

// "torch-ir 0.1.0 (LibTorch 2.13.0, oneDNN 2.6.3)": the program, this version, LibTorch's, and
// oneDNN's, if there is one. The CMake package takes its versions from it too.
std::string version_text(const std::string& program,
                         const std::optional<std::string>& onednn = std::nullopt);

struct Terminal {
  // Whether there is one that understands escape sequences: no file or pipe, and TERM is not
  // "dumb".
  bool is_terminal = false;
  // Whether to use colours: there is one, and NO_COLOR is not set (https://no-color.org).
  bool has_colours = false;
  // Columns; 80 where nothing says it.
  int width = 80;
};

// What a file descriptor is now.
Terminal terminal_of(int descriptor);

// "PROGRAM: MESSAGE" as short_line makes it, with a line break. The problems of a problem_list
// follow, a line each.
std::string message_line(std::string_view program, std::string_view message);

// Flushes `out`, and returns whether all could be written. Where it could not, `err` is told, in
// the name of `program`; but a reader of the standard output that left early, as head does, wanted
// no more, and nothing failed.
bool finish_output(std::ostream& out, std::ostream& err, const std::string& program);

// Whether `descriptor` is a pipe or a socket that nobody reads.
bool is_closed_pipe(int descriptor);

}  // namespace torch_ir
