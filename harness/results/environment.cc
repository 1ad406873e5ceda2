#include "harness/results/environment.h"

#include <ATen/Version.h>
#include <torch/version.h>

#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// "PyTorch built with:", then "  - GCC 13.3".
std::string compiler(std::string_view config) {
  constexpr std::string_view kItem = "\n  - ";
  const size_t at = config.find(kItem);
  return at == config.npos ? "" : headline(config.substr(at + kItem.size()));
}

}  // namespace

std::string build_setting(std::string_view config, std::string_view name) {
  for (const char* before : {", ", ": "}) {
    const std::string key = before + std::string(name) + "=";
    const size_t at = config.find(key);
    if (at == config.npos) continue;
    const std::string_view value = config.substr(at + key.size());
    return std::string(value.substr(0, value.find_first_of(",\n")));
  }
  return {};
}

Environment environment() {
  const std::string config = at::show_config();
  Environment all = {
      {"libtorch", TORCH_VERSION},
      {"compiler", compiler(config)},
      {"cpu_capability", at::get_cpu_capability()},
      {"blas", build_setting(config, "BLAS_INFO")},
      {"lapack", build_setting(config, "LAPACK_INFO")},
      {"mkl", headline(at::get_mkl_version())},
      {"onednn", headline(at::get_mkldnn_version())},
      {"openmp", headline(at::get_openmp_version())},
  };
  std::erase_if(all, [](const auto& item) { return item.second.empty(); });
  return all;
}

}  // namespace torch_ir
