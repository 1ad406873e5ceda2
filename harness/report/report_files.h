// ReportFiles: the directory that a run leaves.
//
//   DIR/SUMMARY.md                what the run came to
//   DIR/<Model>.md                a page a model
//   DIR/ir/<Model>.json           its graph
//   DIR/svg/<Model>.svg           the picture of its graph
//   DIR/repro/<Model>/            the smallest part of it that fails, where it fails
//   DIR/tensors/<Model>.{weights,inputs,expected}.safetensors   with RunSettings::save_tensors
//   DIR/index.html                all of it, to look into
//   DIR/results.json, DIR/junit.xml   the same for programs
//
// Each file is written atomically, those of a model as it finishes and those of the run at the end,
// SUMMARY.md last. Files of models that are not part of the run are left alone; what an earlier run
// left of those that are goes when this one does not make it, and so do folders that become empty.
// Errors are torch_ir::Error.
#pragma once

#include <filesystem>
#include <string>

#include "harness/report/pages.h"
#include "harness/report/work_directory.h"
#include "harness/results/baseline.h"
#include "harness/results/result.h"

namespace torch_ir {

class ReportFiles {
 public:
  // Makes `directory` where it is missing.
  explicit ReportFiles(const std::string& directory);

  // For the files of a run in progress, in the same file system.
  std::string work_directory() const { return work_directory_.path().string(); }

  // The page of `result`, its picture, and the files that run_model left in `files`. Notes why
  // there is no picture, where there is none.
  // `cases` may have calls of the model.
  void write_model(ModelResult& result, const std::string& files, const RunContext& context,
                   const std::vector<CaseResult>& cases = {}) const;
  // For the time that the pages are being replaced: what an earlier run wrote at its end does not
  // speak of them.
  void remove_run() const;
  // What is about all models. `baseline` is null where there is none to compare with.
  void write_run(const RunRecord& run, const BaselineComparison* baseline) const;

 private:
  std::filesystem::path directory_;
  WorkDirectory work_directory_;
};

}  // namespace torch_ir
