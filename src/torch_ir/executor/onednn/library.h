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

// Limits OpenMP to one thread while it lives: for calls so small that threads cost more than they
// bring. A primitive is executed with as many as it was made with.
class ThreadsGuard {
 public:
  explicit ThreadsGuard(bool is_small);
  ~ThreadsGuard();
  ThreadsGuard(const ThreadsGuard&) = delete;
  ThreadsGuard& operator=(const ThreadsGuard&) = delete;

 private:
  // 0 where nothing is to be restored.
  int num_threads_ = 0;
};

// The primitive that `descriptor` describes, which was made under a ThreadsGuard of `is_small`.
PrimitivePtr finish(std::string name, const dnnl::primitive_desc_base& descriptor,
                    const ArgumentNames& arguments, std::vector<Layout> inputs, Layout output,
                    bool is_small);

}  // namespace torch_ir::onednn
