// The headline of a message, for where there is only room for one line: a cell of a table, a line
// of progress, an error that wraps another.
#pragma once

#include <string>
#include <string_view>

namespace torch_ir {

// The first line of `text` that is not blank. Where it ends with a colon, what it announces follows
// it: the next line, without its indent and its bullet. Control characters and bytes that are no
// UTF-8 are written as \xNN.
std::string headline(std::string_view text);

}  // namespace torch_ir
