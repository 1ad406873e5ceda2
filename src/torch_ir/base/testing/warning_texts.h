// Collects LibTorch's warnings in tests.
#pragma once

#include <c10/util/Exception.h>

#include <string>
#include <vector>

namespace torch_ir {

// The warnings that this thread gives while one lives; they are not printed.
class WarningTexts : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override { texts.push_back(warning.msg()); }
  std::vector<std::string> texts;

 private:
  c10::WarningUtils::WarningHandlerGuard guard_{this};
};

}  // namespace torch_ir
