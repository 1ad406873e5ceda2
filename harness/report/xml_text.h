// Text inside XML 1.0.
#pragma once

#include <string>
#include <string_view>

namespace torch_ir {

// `text` as the content of an element, and as an attribute in double quotes. A parser gives back
// the same text, but for what XML can not hold and a terminal should not show: control characters
// other than line breaks and tabs, and bytes that are no UTF-8, which are escaped as printable.h
// does it.
std::string xml_text(std::string_view text);
std::string xml_attribute(std::string_view text);

}  // namespace torch_ir
