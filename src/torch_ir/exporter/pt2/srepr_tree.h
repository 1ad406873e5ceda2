// sympy's `srepr` text as a tree. Used by sympy_text.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

struct SreprNode {
  enum class Kind {
    kCall,    // NAME(arguments)
    kName,    // "oo", "true"
    kNumber,  // an integer, "-12"
    kString,  // 's0', without its quotes
  };

  Kind kind;
  std::string text;
  // Of a call; arguments given by name ("integer=True") are left out.
  std::vector<SreprNode> arguments = {};

  bool is_call(std::string_view name) const { return kind == Kind::kCall && text == name; }
};

// Throws ExportError as infix_of_srepr does.
SreprNode parse_srepr(std::string_view text);

}  // namespace torch_ir
