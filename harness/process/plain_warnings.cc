#include "harness/process/plain_warnings.h"

#include <cstdio>

namespace torch_ir {

void PlainWarnings::process(const c10::Warning& warning) {
  std::fprintf(stderr, "warning: %s\n", warning.msg().c_str());
}

}  // namespace torch_ir
