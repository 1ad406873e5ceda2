// The first line of a message, for where there is only room for one: a cell of a table, a line of
// progress, an error that wraps another.
#ifndef TORCH_IR_BASE_FIRST_LINE_H_
#define TORCH_IR_BASE_FIRST_LINE_H_

#include <string>
#include <string_view>

namespace torch_ir {

// `text` up to its first line break, or all of it.
inline std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace torch_ir

#endif  // TORCH_IR_BASE_FIRST_LINE_H_
