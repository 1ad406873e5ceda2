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

// If the dispatcher rejects a registration, for instance of an operator that it already has, the
// library's initializers throw; no exception passes through the loader.
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

// The reason why the library cannot be loaded; empty if it was loaded.
std::string open(const std::string& absolute) {
  const std::terminate_handler before = std::set_terminate(end_by_initializer);
  // Libraries that are loaded later may use the symbols of this one.
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
  if (!fs::exists(path, error)) fail("no such file");
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
