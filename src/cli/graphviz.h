// Pictures by Graphviz's program `dot`.
#ifndef TORCH_IR_CLI_GRAPHVIZ_H_
#define TORCH_IR_CLI_GRAPHVIZ_H_

#include <string>

namespace torch_ir {

struct RenderedGraph {
  std::string image;
  // What `dot` said about it; mostly nothing.
  std::string warnings;
};

// `dot_text` as an image in one of Graphviz's formats, "svg" or "png". Runs the `dot` that is found
// on the PATH. Throws Error when there is none or when it fails.
RenderedGraph render_with_graphviz(const std::string& dot_text, const std::string& format);

}  // namespace torch_ir

#endif  // TORCH_IR_CLI_GRAPHVIZ_H_
