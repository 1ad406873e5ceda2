// mermaid_label: text that Mermaid shows as it is.
//
// Used for every label that holds a name from an IR. Mermaid reads labels as Markdown with HTML,
// and scans the whole text for directives; what has a meaning to any of these is written as an
// entity code (`#35;`).
#pragma once

#include <string>
#include <string_view>

namespace torch_ir {

// `text`, one line (see labels.h), to stand between double quotes.
std::string mermaid_label(std::string_view text);

}  // namespace torch_ir
