// The version, terminals, error messages and exit of the programs.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace torch_ir {

// "torch-ir 0.1.0 (LibTorch 2.13.0, oneDNN 2.6.3)"; without oneDNN that part is left out. The CMake
// package parses this text.
std::string version_text(const std::string& program,
                         const std::optional<std::string>& onednn = std::nullopt);

struct Terminal {
  // Whether it understands escape sequences: not a file or a pipe, and TERM is not "dumb".
  bool is_terminal = false;
  // Whether to use colours: it is a terminal, and NO_COLOR is not set (https://no-color.org).
  bool has_colours = false;
  int width = 80;
};

Terminal terminal_of(int descriptor);

// "PROGRAM: MESSAGE" as short_line makes it, with a line break. The problems of a problem_list
// follow, one per line.
std::string message_line(std::string_view program, std::string_view message);

// Flushes `out`, and returns whether everything was written; if not, reports it to `err` in the
// name of `program`. A reader of the standard output that left early, such as head, is not a
// failure.
bool finish_output(std::ostream& out, std::ostream& err, const std::string& program);

// Returns the same address in all libraries that share this torch-ir, and so its registries.
extern "C" const void* torch_ir_copy();

}  // namespace torch_ir
