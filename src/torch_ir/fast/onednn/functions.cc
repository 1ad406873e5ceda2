#include "torch_ir/fast/onednn/functions.h"

#include <dlfcn.h>

#include <optional>

namespace torch_ir::onednn {
namespace {

// They do not work with RTLD_DEEPBIND, and end the program that uses it.
bool has_sanitizer() {
  return dlsym(RTLD_DEFAULT, "__asan_init") != nullptr ||
         dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr;
}

std::optional<Functions> open_library() {
  if (has_sanitizer()) return std::nullopt;
  // The name that the library gives itself, with the part of the version that its interface has.
  void* const library = dlopen(ONEDNN_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (library == nullptr) return std::nullopt;
  Functions found;
  bool has_all = true;
  const auto find = [&]<class Function>(const char* symbol, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, symbol));
    has_all = has_all && function != nullptr;
  };
#define TORCH_IR_ONEDNN_FIND(function) find(#function, found.function);
  TORCH_IR_ONEDNN_FUNCTIONS(TORCH_IR_ONEDNN_FIND)
#undef TORCH_IR_ONEDNN_FIND
  return has_all ? std::optional(found) : std::nullopt;
}

}  // namespace

const Functions* functions() {
  static const std::optional<Functions> opened = open_library();
  return opened ? &*opened : nullptr;
}

}  // namespace torch_ir::onednn
