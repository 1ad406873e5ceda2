#include "torch_ir/python_operators/python_operators.h"

#include <algorithm>

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

std::string_view advice_about_unknown(std::string_view op_type) {
  constexpr std::string_view kOnlyInPython[] = {"debugprims.", "inductor_prims.", "prims.",
                                                "quantized_decomposed.", "rngprims."};
  const bool is_only_in_python = std::ranges::any_of(
      kOnlyInPython, [&](std::string_view prefix) { return op_type.starts_with(prefix); });
  return is_only_in_python ? "only Python defines it, so export the model without it"
                           : "load the library that defines it (--load-library)";
}

}  // namespace torch_ir
