// Text of a drawing that comes from names in an IR: made safe to print, short, and unique.
//
// Used by the writers of this folder. A name in an IR can be any string: another program's, or an
// attacker's. What comes out of here is valid UTF-8 of bounded length without control characters;
// what a notation treats specially is that notation's own business.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

namespace torch_ir {

// `name` on one line: control characters become spaces, bytes that are not UTF-8 become U+FFFD,
// spaces around it are left out, and what is longer than 100 characters ends in "...". "(no name)"
// when nothing would be seen.
std::string printable_name(std::string_view name);

// How an operator is called in drawings: without "aten." and without ".default"; operators of other
// namespaces keep theirs. "mul.Tensor" for "aten.mul.Tensor", "torchvision.nms" for
// "torchvision.nms.default".
std::string operator_label(std::string_view op_type);

// `text`, one line, so that Mermaid shows it as it is between double quotes. Mermaid reads labels
// as Markdown with HTML, and scans the whole text for directives; what has a meaning to any of
// these is written as an entity code (`#35;`).
std::string mermaid_label(std::string_view text);

// Identifiers of one drawing, all different.
class Identifiers {
 public:
  // `prefix`, then `name` with every character other than letters and digits as "_", cut to 64
  // characters; with a number behind it when that is taken.
  std::string make(std::string_view prefix, std::string_view name);

 private:
  std::unordered_set<std::string> taken_;
};

}  // namespace torch_ir
