// What the sources of this room share; the one header that sees oneDNN's.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/executor/onednn/primitive.h"

namespace torch_ir::onednn {

struct LayoutAccess {
  static const dnnl::memory::desc& descriptor(const Layout& layout) {
    return *static_cast<const dnnl::memory::desc*>(layout.descriptor_.get());
  }
  static Layout layout(const dnnl::memory::desc& descriptor);
};

// The processor.
const dnnl::engine& cpu();

// What a primitive calls its inputs (DNNL_ARG_SRC, ...) and its output.
struct ArgumentNames {
  std::vector<int> inputs;
  int output = DNNL_ARG_DST;
};

// Whether the library has no better than a slow reference.
bool is_reference(const dnnl::primitive_desc_base& descriptor);

// The primitive that `descriptor` describes.
PrimitivePtr finish(std::string name, const dnnl::primitive_desc_base& descriptor,
                    const ArgumentNames& arguments, std::vector<Layout> inputs, Layout output);

}  // namespace torch_ir::onednn
