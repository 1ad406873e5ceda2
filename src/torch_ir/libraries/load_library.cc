#include "torch_ir/libraries/load_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
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

std::string failure(const std::string& path, const std::string& reason) {
  return "cannot load the library '" + printable(path) + "': " + printable(reason);
}

std::string& path_being_loaded() {
  static std::string path;
  return path;
}

// A registration that the dispatcher refuses, such as one of an operator that it has, throws in the
// library's initializers; no exception passes through the loader.
[[noreturn]] void end_by_initializer() {
  std::string reason = "its initializers failed";
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::exception& error) {
    reason = headline(error.what());
  } catch (...) {
  }
  std::fputs((failure(path_being_loaded(), reason) + "\n").c_str(), stderr);
  std::_Exit(2);
}

// Why the library cannot be loaded; empty once it is.
std::string open(const std::string& absolute) {
  const std::terminate_handler before = std::set_terminate(end_by_initializer);
  // Operators must be known by name to whatever else is loaded later.
  const void* library = ::dlopen(absolute.c_str(), RTLD_NOW | RTLD_GLOBAL);
  std::set_terminate(before);
  if (library != nullptr) return "";
  const char* error = ::dlerror();
  return error == nullptr ? "unknown error" : headline(error);
}

}  // namespace

void load_library(const std::string& path) {
  const auto fail = [&](const std::string& reason) { throw Error(failure(path, reason)); };
  path_being_loaded() = path;
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
