#include "harness/report/report_directory.h"

#include <system_error>

namespace torch_ir {

namespace fs = std::filesystem;

Error cannot_write(const fs::path& path, const std::string& reason) {
  return Error("cannot write the reports to '" + path.string() + "': " + reason);
}

void make_directory(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (!error) return;
  std::error_code ignored;
  throw cannot_write(directory,
                     fs::is_regular_file(directory, ignored) ? "it is a file" : error.message());
}

}  // namespace torch_ir
