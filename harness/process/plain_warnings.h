// LibTorch's warnings on standard error as they are, without the clock and the thread that its own
// handler puts in front: what a model printed last is part of the reports, which are the same for
// the same model.
//
// Held by the process that runs a model, on its main thread.
#pragma once

#include <c10/util/Exception.h>

namespace torch_ir {

class PlainWarnings : public c10::WarningHandler {
 public:
  // "warning: ...", a line or more.
  void process(const c10::Warning& warning) override;
};

}  // namespace torch_ir
