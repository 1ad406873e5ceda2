// Labels and identifiers for drawings: names of an IR, made safe to print, short and unique.
//
// A name can be any string, even an attacker's. The results are valid UTF-8 of bounded length
// without control characters; each notation escapes its own special characters.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

namespace torch_ir {

// `name` on one line: control characters become spaces, bytes that are not UTF-8 become U+FFFD, the
// ends are trimmed, and names longer than 100 characters end in "...". "(no name)" if nothing is
// visible.
std::string printable_name(std::string_view name);

// An operator's name in drawings, without "aten." and ".default": "mul.Tensor" for
// "aten.mul.Tensor", "torchvision.nms" for "torchvision.nms.default".
std::string operator_label(std::string_view op_type);

// Escapes `text`, one line, for Mermaid's double quotes. Mermaid reads labels as Markdown with
// HTML, and scans the whole text for directives; special characters become entity codes (`#35;`).
std::string mermaid_label(std::string_view text);

// Makes unique identifiers for one drawing.
class Identifiers {
 public:
  // Returns `prefix` and `name`, cut to 64 characters, with "_" for other characters than letters
  // and digits, and a number if that is taken.
  std::string make(std::string_view prefix, std::string_view name);

 private:
  std::unordered_set<std::string> taken_;
};

}  // namespace torch_ir
