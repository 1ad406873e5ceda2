#include "torch_ir/libraries/load_library.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <system_error>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/terminal.h"
#include "torch_ir/base/text.h"
#include "torch_ir/converter/converter.h"
#include "torch_ir/operators/op_handler_registry.h"
#include "torch_ir/registry/registry.h"

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

// Whether `library` comes with other registries than those of this process.
bool has_own_torch_ir(void* library) {
  const auto other = reinterpret_cast<decltype(&torch_ir_copy)>(::dlsym(library, "torch_ir_copy"));
  return other != nullptr && other() != torch_ir_copy();
}

// Of the LibTorch in use.
fs::path libtorch_folder() {
  Dl_info info = {};
  std::error_code error;
  if (::dladdr(&c10::Dispatcher::singleton(), &info) == 0) return {};
  return fs::canonical(info.dli_fname, error).parent_path();
}

// The library of the Python that a LibTorch of pip is for: "libpython3.11.so.1.0" if the folder has
// "../_C.cpython-311-x86_64-linux-gnu.so".
std::string libpython(const fs::path& folder) {
  constexpr std::string_view kBindings = "_C.cpython-3";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kBindings)) continue;
    const std::string version = name.substr(kBindings.size());
    return "libpython3." + version.substr(0, version.find('-')) + ".so.1.0";
  }
  return "libpython3.so";
}

// Loads what libraries built with Python's torch need and the loader does not find: LibTorch's
// other libraries, and then Python's, which its bindings use without naming it.
void load_neighbours(bool with_python) {
  const fs::path folder = libtorch_folder();
  std::vector<fs::path> paths = {folder / "libtorch.so", folder / "libshm.so"};
  if (with_python) paths = {libpython(folder), folder / "libtorch_python.so"};
  for (const fs::path& path : paths) ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

// The reason why the library cannot be loaded; empty if it was loaded.
std::string open(const std::string& absolute) {
  const std::terminate_handler before = std::set_terminate(end_by_initializer);
  void* library = nullptr;
  std::string reason;
  bool is_missing = true;
  for (int attempt = 0; attempt < 3 && is_missing; ++attempt) {
    if (attempt > 0) load_neighbours(/*with_python=*/attempt > 1);
    // Libraries that are loaded later may use the symbols of this one.
    library = ::dlopen(absolute.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library != nullptr) break;
    const char* error = ::dlerror();
    reason = error == nullptr ? "unknown error" : headline(error);
    is_missing = reason.find("cannot open shared object") != reason.npos ||
                 reason.find("undefined symbol") != reason.npos;
  }
  std::set_terminate(before);
  if (library == nullptr && !is_missing) return reason;
  if (library == nullptr) {
    const bool needs_python = reason.find("undefined symbol: Py") != reason.npos ||
                              reason.find("undefined symbol: _Py") != reason.npos;
    const fs::path folder = libtorch_folder();
    return reason + "; set LD_LIBRARY_PATH to the folder of " +
           (needs_python
                ? libpython(folder)
                : "what it needs, or take its build for the LibTorch in " + folder.string());
  }
  if (!has_own_torch_ir(library)) return "";
  return "it brings a torch-ir of its own, whose models and backends this program does not see; "
         "link it with the libtorch_ir.so of the installation, and load it with the programs there";
}

std::vector<c10::OperatorHandle> operators() {
  std::vector<c10::OperatorHandle> all;
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    // Kernels may come before their operator.
    if (const auto found = dispatcher.findSchema(name)) all.push_back(*found);
  }
  return all;
}

size_t num_kernels(const std::vector<c10::OperatorHandle>& operators) {
  size_t count = 0;
  for (const c10::OperatorHandle& it : operators) {
    for (int key = 1; key <= static_cast<int>(c10::DispatchKey::EndOfAliasKeys); ++key) {
      count += it.hasKernelForDispatchKey(static_cast<c10::DispatchKey>(key)) ? 1 : 0;
    }
  }
  return count;
}

std::vector<LibraryRegistry> registries(const std::vector<LibraryRegistry>& others) {
  std::vector<LibraryRegistry> all = {{"model", [] {
                                         return list_models(Scale::kTest).size() +
                                                list_models(Scale::kFull).size();
                                       }}};
  all.insert(all.end(), others.begin(), others.end());
  all.push_back({"operator", [] { return operators().size(); }});
  // Only those of operators that were there before.
  all.push_back({"kernel", [known = operators()] { return num_kernels(known); }});
  all.push_back({"op handler", [] { return list_registered_op_handlers().size(); }});
  all.push_back({"converter", [] { return list_registered_ops().size(); }});
  return all;
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

std::string load_library_and_count(const std::string& path,
                                   const std::vector<LibraryRegistry>& others) {
  const std::vector<LibraryRegistry> all = registries(others);
  std::vector<size_t> sizes;
  for (const LibraryRegistry& registry : all) sizes.push_back(registry.size());
  // Another library may have loaded it.
  const bool is_new =
      ::dlopen(fs::absolute(path).c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL) == nullptr;
  load_library(path);
  if (!is_new) return "";
  std::vector<std::string> added;
  std::vector<std::string> nouns;
  for (size_t i = 0; i < all.size(); ++i) {
    nouns.push_back(all[i].noun);
    // Negative if a library removes a handler.
    const auto grown = static_cast<int64_t>(all[i].size()) - static_cast<int64_t>(sizes[i]);
    if (grown > 0) added.push_back(counted(grown, all[i].noun));
  }
  if (added.empty()) {
    throw Error(failure(path, fmt::format("it registers nothing that a program can use ({}); link "
                                          "the objects that register into it",
                                          fmt::join(nouns, ", "))));
  }
  return fmt::format("{}: {}", printable(fs::path(path).filename().string()),
                     fmt::join(added, ", "));
}

const std::vector<std::string>& loaded_libraries() { return libraries(); }

}  // namespace torch_ir
