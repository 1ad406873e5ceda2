// ReportFiles: the directory that a run leaves.
//
//   DIR/SUMMARY.md                                        what the run came to
//   DIR/<Model>.md                                        a page a model
//   DIR/ir/<Model>.json                                   its graph
//   DIR/tensors/<Model>.{weights,inputs,expected}.safetensors   with RunSettings::save_tensors
//
// Each file is written atomically, pages as the models finish and the summary at the end. Files
// of models that are not part of the run are left alone; what an earlier run left of those that
// are goes when this one does not make it. Errors are torch_ir::Error.
#ifndef TORCH_IR_HARNESS_REPORT_FILES_H_
#define TORCH_IR_HARNESS_REPORT_FILES_H_

#include <filesystem>
#include <string>
#include <vector>

#include "torch_ir/harness/pages.h"
#include "torch_ir/harness/result.h"
#include "torch_ir/harness/work_directory.h"

namespace torch_ir {

class ReportFiles {
 public:
  // Makes `directory` where it is missing.
  explicit ReportFiles(const std::string& directory);

  // For the files of a run in progress, in the same file system.
  std::string work_directory() const { return work_directory_.path().string(); }

  // The page of `result`, and the files that run_model left in `files`.
  void write_model(const ModelResult& result, const std::string& files,
                   const PageContext& context) const;
  // For the time that the pages are being replaced: a summary of an earlier run does not speak of
  // them.
  void remove_summary() const;
  void write_summary(const std::vector<ModelResult>& results, const Coverage& coverage,
                     const PageContext& context) const;

 private:
  std::filesystem::path directory_;
  WorkDirectory work_directory_;
};

}  // namespace torch_ir

#endif  // TORCH_IR_HARNESS_REPORT_FILES_H_
