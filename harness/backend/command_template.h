// CommandTemplate: a line for the shell with places for the names of files.
//
// What `harness --executor COMMAND` is given: "my_sim {ir} {weights} {inputs} {outputs}". A
// placeholder is replaced by a path as the shell needs it, quoted where it has to be, also where it
// stands in quotes itself. "{{word}}" is the text "{word}"; "${word}" and braces around anything
// but a lowercase word are the shell's own.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace torch_ir {

class CommandTemplate {
 public:
  // Throws Error when `text` lacks a placeholder that is in `placeholders`, or has one that is not.
  CommandTemplate(const std::string& text, const std::vector<std::string>& placeholders);

  // The line, with a path for each placeholder.
  std::string fill(const std::map<std::string, std::string>& paths) const;

 private:
  enum class Quotes { kNone, kSingle, kDouble };
  // Text as it stands, and the placeholder behind it; none at the end.
  struct Piece {
    std::string text = {};
    std::string placeholder = {};
    Quotes quotes = Quotes::kNone;
  };
  class Parser;
  static std::string quoted(const std::string& path, Quotes quotes);

  std::vector<Piece> pieces_;
};

}  // namespace torch_ir
