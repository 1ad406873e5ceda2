#include "torch_ir/operators/refused_operators.h"

#include <algorithm>

namespace torch_ir {
namespace {

struct Refusal {
  // An operator with all its overloads, or a namespace.
  std::string_view prefix;
  const char* reason;
};

constexpr Refusal kRefusals[] = {
    {"aten.from_file.", "it maps a file, and may create one"},
    {"aten._from_file.", "it maps a file, and may create one"},
    {"aten.save.", "it writes a file"},
    {"aten.load.", "it reads a file"},
    {"c10d.", "it talks to other processes"},
    {"_c10d_functional.", "it talks to other processes"},
    {"_c10d_functional_autograd.", "it talks to other processes"},
    {"c10d_functional.", "it talks to other processes"},
    {"symm_mem.", "it talks to other processes"},
    {"rpc.", "it talks to other processes"},
    {"_test.", "it is there to test LibTorch itself"},
    {"profiler.", "it changes what the process records"},
    {"inductor.", "it works on the memory of compiled code"},
};

}  // namespace

std::string refusal(std::string_view op_type) {
  const auto* const found = std::ranges::find_if(
      kRefusals, [&](const Refusal& entry) { return op_type.starts_with(entry.prefix); });
  return found == std::end(kRefusals) ? std::string() : found->reason;
}

}  // namespace torch_ir
