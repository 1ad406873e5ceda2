// Pictures by Graphviz's program `dot`.
//
// A process and not the library: layouts of large graphs can take forever, and a process can be
// ended.
#pragma once

#include <chrono>
#include <string>

#include "torch_ir/base/error.h"

namespace torch_ir {

struct RenderedGraph {
  std::string image;
  // What `dot` said about it; mostly nothing.
  std::string warnings;
};

// `dot` was ended because it took too long.
class GraphvizTimeout : public Error {
 public:
  using Error::Error;
};

// `dot_text` as an image in one of Graphviz's formats, "svg" or "png". Runs the `dot` that is found
// on the PATH. Throws GraphvizTimeout, and Error when there is no `dot` or when it fails.
RenderedGraph render_with_graphviz(const std::string& dot_text, const std::string& format,
                                   std::chrono::duration<double> time_limit);

}  // namespace torch_ir
