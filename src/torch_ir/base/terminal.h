// Terminal: what a stream of this process may show.
//
// Asked by the main functions of the programs, once.
#pragma once

namespace torch_ir {

struct Terminal {
  // Whether there is one that understands escape sequences: no file or pipe, and TERM is not
  // "dumb".
  bool is_terminal = false;
  // Whether to use colours: there is one, and NO_COLOR is not set (https://no-color.org).
  bool has_colours = false;
  // Columns; 80 where nothing says it.
  int width = 80;
};

// Of a file descriptor, as it is now.
Terminal terminal_of(int descriptor);

}  // namespace torch_ir
