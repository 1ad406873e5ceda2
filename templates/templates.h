// The Mustache templates of the report pages, and the style and scripts of the index, embedded in
// the program.
#pragma once

#include <string_view>

namespace torch_ir::templates {

extern const std::string_view model_page;
extern const std::string_view summary;
extern const std::string_view operators;
extern const std::string_view index_page;
extern const std::string_view index_style;
extern const std::string_view index_graph;
extern const std::string_view index_script;

}  // namespace torch_ir::templates
