// WorkDirectory: where the files of a run lie while it runs. And making the directories of reports.
//
// Made by ReportFiles, one for each run, inside the directory of the reports, so that finished
// files can be moved out of it. It is locked for as long as its run lives: what a run left that was
// killed is removed by the next one, and what belongs to one that runs beside it is not.
#pragma once

#include <filesystem>
#include <string>

#include "torch_ir/base/error.h"

namespace torch_ir {

class WorkDirectory {
 public:
  // Makes `parent` where it is missing. Throws Error when this can not be.
  explicit WorkDirectory(const std::filesystem::path& parent);
  // Removes it.
  ~WorkDirectory();
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

// "cannot write the reports to 'PATH': REASON"
Error cannot_write(const std::filesystem::path& path, const std::string& reason);

// With those above it, as far as they are missing. Throws cannot_write.
void make_directory(const std::filesystem::path& directory);

}  // namespace torch_ir
