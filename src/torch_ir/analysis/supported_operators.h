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
// A name that no graph uses does no harm, and other versions of PyTorch have other operators; what
// is unknown here is therefore only told.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace torch_ir {

class SupportedOperators {
 public:
  // A name on the list; lines count from 1.
  struct Entry {
    std::string name;
    size_t line = 0;
  };

  // Reads the text of a list; `path` is what messages call it. Throws Error, with path and line,
  // for what is no operator name.
  static SupportedOperators parse(std::string_view text, const std::string& path);
  // The same with the text of the file.
  static SupportedOperators load(const std::string& path);

  // Whether the list has `op_type`, or all overloads of it, or all of its namespace.
  bool contains(const std::string& op_type) const;

  // Names that LibTorch does not have, though it has operators in their namespace: mistyped, or of
  // another version. In the order of the list.
  std::vector<Entry> unknown() const;

 private:
  std::vector<Entry> entries_;
  std::unordered_set<std::string> operators_;
  // "aten.conv2d": whatever begins like that, up to a dot.
  std::unordered_set<std::string> families_;
};

// The name of an operator of LibTorch that is most like `name`, with an overload where it has one:
// "; did you mean 'aten.relu.default'?", or empty.
std::string suggest_operator(const std::string& name);

}  // namespace torch_ir
