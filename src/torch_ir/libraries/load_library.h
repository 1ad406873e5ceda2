// load_library: loads a shared library that registers operators (torchvision's, a vendor's). The
// dispatcher then knows them as it knows LibTorch's own.
//
// A library is code, and is trusted like the program that loads it.
#pragma once

#include <string>
#include <vector>

namespace torch_ir {

// Loads the shared library `path` into this process, where it stays. Throws Error, naming the file,
// if it is missing or cannot be loaded. If its initializers throw, as they do for an operator
// that is already registered, the process reports that and exits with status 2.
void load_library(const std::string& path);

// The absolute paths of the libraries in the order in which they were loaded, for other processes
// to load them too.
const std::vector<std::string>& loaded_libraries();

}  // namespace torch_ir
