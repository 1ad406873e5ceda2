// Rewrites reports/reference, adding the named models: bazel run //reports:update -- MODEL...

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "harness/regression/reference_pages.h"
#include "harness/run/run_as_child.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"

namespace fs = std::filesystem;

namespace {

void update(const fs::path& directory, std::vector<std::string> models) {
  fs::create_directories(directory);
  std::ranges::copy(torch_ir::reference_models(directory), std::back_inserter(models));
  const fs::path scratch = directory.string() + ".new";
  fs::remove_all(scratch);
  const torch_ir::ReferencePages run = torch_ir::make_reference_pages(models, scratch);
  fs::remove_all(scratch);
  if (run.pictures.size() != run.results.size()) {
    throw torch_ir::Error("'dot' is not on the PATH; install Graphviz, which draws the pictures");
  }
  size_t count = 0;
  for (const auto& [old, now] : {std::pair(torch_ir::read_pages(directory), run.pages),
                                 std::pair(torch_ir::read_pictures(directory), run.pictures)}) {
    for (const auto& [name, content] : old) fs::remove(directory / name);
    for (const auto& [name, content] : now) {
      fs::create_directories((directory / name).parent_path());
      torch_ir::write_file(directory / name, content);
    }
    count += now.size();
  }
  std::cout << "wrote " << count << " files below reports/reference\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto status = torch_ir::run_as_child(argc, argv)) return *status;
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    std::cerr << "run this program with: bazel run //reports:update\n";
    return 2;
  }
  try {
    update(fs::path(workspace) / "reports" / "reference", {argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
