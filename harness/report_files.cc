#include "torch_ir/harness/report_files.h"

#include <stdlib.h>
#include <string.h>

#include <cerrno>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

fs::path make_work_directory(const fs::path& directory) {
  std::string name = (directory / ".run-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw Error("can not write to '" + directory.string() + "': " + strerror(errno));
  }
  return name;
}

// Gives `to` the file `from`, or no file where there is none.
void replace(const fs::path& from, const fs::path& to) {
  if (fs::exists(from)) {
    fs::create_directories(to.parent_path());
    fs::rename(from, to);
  } else {
    fs::remove(to);
  }
}

}  // namespace

ReportFiles::ReportFiles(const std::string& directory) : directory_(directory) {
  fs::create_directories(directory_);
  work_directory_ = make_work_directory(directory_);
}

ReportFiles::~ReportFiles() {
  std::error_code ignored;
  fs::remove_all(work_directory_, ignored);
}

void ReportFiles::write_model(const ModelResult& result, const std::string& files,
                              const PageContext& context) const {
  const fs::path from = files;
  replace(from / "ir.json", directory_ / "ir" / (result.name + ".json"));
  for (const char* kind : {"weights", "inputs", "expected"}) {
    const std::string extension = std::string(".") + kind + ".safetensors";
    replace(from / (extension.substr(1)), directory_ / "tensors" / (result.name + extension));
  }
  write_file(directory_ / (result.name + ".md"), render_model_page(result, context));
}

void ReportFiles::write_summary(const std::vector<ModelResult>& results, const Coverage& coverage,
                                const PageContext& context) const {
  write_file(directory_ / "SUMMARY.md", render_summary(results, coverage, context));
}

}  // namespace torch_ir
