// index.html, in which {{style}}, {{script}} and {{data}} are places, its style and its scripts,
// embedded in the program.
#pragma once

#include <string_view>

namespace torch_ir::templates {

extern const std::string_view index_page;
extern const std::string_view index_style;
extern const std::string_view index_graph;
extern const std::string_view index_script;

}  // namespace torch_ir::templates
