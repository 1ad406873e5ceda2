#include "torch_ir/harness/report_files.h"

#include <system_error>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSummary = "SUMMARY.md";

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

void remove_file(const fs::path& file) {
  std::error_code error;
  fs::remove(file, error);
  // Below what is no directory there is nothing to remove either.
  if (error && error != std::errc::not_a_directory) throw cannot_write(file, error.message());
}

// Gives `to` the file `from`, or no file where there is none.
void replace(const fs::path& from, const fs::path& to) {
  if (!fs::exists(from)) return remove_file(to);
  make_directory(to.parent_path());
  std::error_code error;
  fs::rename(from, to, error);
  if (error) throw cannot_write(to, error.message());
}

}  // namespace

ReportFiles::ReportFiles(const std::string& directory)
    : directory_(directory), work_directory_(directory_) {}

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

void ReportFiles::remove_summary() const { remove_file(directory_ / kSummary); }

void ReportFiles::write_summary(const std::vector<ModelResult>& results, const Coverage& coverage,
                                const PageContext& context) const {
  write_file(directory_ / kSummary, render_summary(results, coverage, context));
}

}  // namespace torch_ir
