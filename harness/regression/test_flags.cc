#include "harness/regression/test_flags.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "torch_ir/base/error.h"

namespace torch_ir {

void take_flag(std::string_view argument, const TestFlags& flags) {
  const size_t equals = argument.find('=');
  const auto flag = flags.find(argument.substr(0, equals));
  if (equals == std::string_view::npos || flag == flags.end()) {
    throw Error("unknown argument " + std::string(argument));
  }
  flag->second(std::string(argument.substr(equals + 1)));
}

std::vector<std::string> items_of(const std::string& list) {
  std::vector<std::string> items;
  std::istringstream stream(list);
  for (std::string item; std::getline(stream, item, ',');) items.push_back(item);
  return items;
}

std::string report_directory(const std::string& name) {
  const char* outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  return outputs != nullptr ? outputs : (std::filesystem::temp_directory_path() / name).string();
}

}  // namespace torch_ir
