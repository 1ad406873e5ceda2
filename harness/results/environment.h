// The build of LibTorch that runs here: what of it can change the last bits of a result.
//
// Read by the reports. Nothing in it names the machine.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torch_ir {

// Names and values: "libtorch", "compiler", "cpu_capability" (the instructions that its kernels
// use), "blas", "lapack", "mkl", "onednn", "openmp"; those that it does not tell are left out.
using Environment = std::vector<std::pair<std::string, std::string>>;

Environment environment();

// The value of `name` among the "Build settings: NAME=VALUE, NAME=VALUE, ..." in the text of
// at::show_config(); empty where it is not there.
std::string build_setting(std::string_view config, std::string_view name);

}  // namespace torch_ir
