#include "torch_ir/python_operators/python_operators.h"

#include "torch_ir/ir/binding.h"
#include "torch_ir/python_operators/definitions.h"

namespace torch_ir {

void define_python_operators(std::string_view name) {
  if (name.starts_with("quantized_decomposed::") || name.starts_with("torchao::")) {
    [[maybe_unused]] static const bool is_done = [] {
      define_quantized_decomposed(*new Definitions("quantized_decomposed"));
      define_torchao(*new Definitions("torchao"));
      return true;
    }();
  } else if (name.starts_with("prims::")) {
    [[maybe_unused]] static const bool is_done = [] {
      define_prims(*new Definitions("prims"));
      return true;
    }();
  }
}

namespace {

const bool is_registered = [] {
  set_operator_definitions(define_python_operators);
  return true;
}();

}  // namespace

}  // namespace torch_ir
