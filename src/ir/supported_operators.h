// SupportedOperators: the operators that somebody else's backend has, as a list in a text file.
//
// Given to `torch-ir ops --supported LIST` and `harness --supported LIST`. One operator a line:
//
//   # what the chip has
//   aten.add.Tensor
//   aten.conv2d        # all overloads
//   aten.mul.*         # the same
//   _operator.*        # all operators of a namespace
//
// A name that no graph uses does no harm.
#ifndef TORCH_IR_IR_SUPPORTED_OPERATORS_H_
#define TORCH_IR_IR_SUPPORTED_OPERATORS_H_

#include <string>
#include <string_view>
#include <unordered_set>

namespace torch_ir {

class SupportedOperators {
 public:
  // Reads the text of a list; `path` is what messages call it. Throws Error, with path and line,
  // for what is no operator name.
  static SupportedOperators parse(std::string_view text, const std::string& path);
  // The same with the text of the file.
  static SupportedOperators load(const std::string& path);

  // Whether the list has `op_type`, or all overloads of it, or all of its namespace.
  bool contains(const std::string& op_type) const;

 private:
  std::unordered_set<std::string> operators_;
  // "aten.conv2d": whatever begins like that, up to a dot.
  std::unordered_set<std::string> families_;
};

}  // namespace torch_ir

#endif  // TORCH_IR_IR_SUPPORTED_OPERATORS_H_
