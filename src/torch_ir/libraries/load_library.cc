#include "torch_ir/libraries/load_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <system_error>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

std::vector<std::string>& libraries() {
  static std::vector<std::string> loaded;
  return loaded;
}

// Why the library cannot be loaded; empty once it is.
std::string open(const std::string& path) {
  try {
    // Operators must be known by name to whatever else is loaded later.
    if (::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return "";
  } catch (const std::exception& error) {
    // A registration that the dispatcher refuses, such as one of an operator that it has.
    return headline(error.what());
  }
  const char* error = ::dlerror();
  return error == nullptr ? "unknown error" : headline(error);
}

}  // namespace

void load_library(const std::string& path) {
  const auto fail = [&](const std::string& reason) {
    throw Error("cannot load the library '" + printable(path) + "': " + printable(reason));
  };
  std::error_code error;
  if (!fs::exists(path, error)) fail("there is no such file");
  if (!fs::is_regular_file(path, error)) fail("it is not a file");
  // dlopen searches the system's folders for a name without a folder.
  const std::string absolute = fs::absolute(path, error).string();
  if (std::ranges::find(libraries(), absolute) != libraries().end()) return;
  std::string reason = open(absolute);
  if (reason.starts_with(absolute + ": ")) reason.erase(0, absolute.size() + 2);
  if (!reason.empty()) fail(reason);
  libraries().push_back(absolute);
}

const std::vector<std::string>& loaded_libraries() { return libraries(); }

}  // namespace torch_ir
