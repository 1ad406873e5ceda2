#include "harness/testing/run_command_line.h"

#include <filesystem>
#include <sstream>

#include "harness/command_line.h"
#include "torch_ir/base/file.h"

namespace torch_ir {

namespace fs = std::filesystem;

HarnessOutcome run_command_line(std::vector<std::string> arguments, bool has_bar) {
  arguments.insert(arguments.begin(), "bazel-bin/harness/harness");
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::ostringstream out;
  std::ostringstream err;
  const int status =
      harness_main(static_cast<int>(argv.size()), argv.data(), out, err, {.has_bar = has_bar});
  return {status, out.str(), err.str()};
}

std::map<std::string, std::string> files_below(const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    files[fs::relative(entry.path(), directory)] = read_file(entry.path());
  }
  return files;
}

}  // namespace torch_ir
