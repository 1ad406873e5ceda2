// load_library: loads a shared library that registers operators (torchvision's, a vendor's),
// models, backends, op handlers or converters. This process then has them as if they were linked
// into it.
//
// The library must be linked with the torch-ir of this process (libtorch_ir.so of the
// installation), since another torch-ir has registries of its own. It is code, and is trusted like
// the program that loads it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace torch_ir {

// Loads the shared library `path` into this process, where it stays. Throws Error, naming the file,
// if it is missing, cannot be loaded, or brings a torch-ir of its own. If its initializers throw,
// as they do for an operator or a model that is already registered, the process reports that and
// exits with status 2.
void load_library(const std::string& path);

// A registry of this process that libraries add to.
struct LibraryRegistry {
  // Has a plural in -s.
  std::string noun;
  std::function<size_t()> size;
};

// Loads the library as load_library and returns what it added: "libmine.so: 2 models, 3 operators".
// Empty if it was loaded before. `others` are registries beside those of torch-ir. Throws Error if
// the library added nothing.
std::string load_library_and_count(const std::string& path,
                                   const std::vector<LibraryRegistry>& others = {});

// The absolute paths of the libraries in the order in which they were loaded, for other processes
// to load them too.
const std::vector<std::string>& loaded_libraries();

}  // namespace torch_ir
