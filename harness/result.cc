#include "torch_ir/harness/result.h"

namespace torch_ir {

std::string_view stage_name(Stage stage) {
  switch (stage) {
    case Stage::kExtract:
      return "extract";
    case Stage::kSerialize:
      return "serialize";
    case Stage::kExecute:
      return "execute";
    case Stage::kVerify:
      return "verify";
  }
  __builtin_unreachable();
}

}  // namespace torch_ir
