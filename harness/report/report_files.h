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
// They are made in a hidden folder of DIR and take their places (base/work_directory.h) when the
// run is done, results.json last: until then DIR holds what it held, and so it does when the run is
// killed.
// Files of models that are not part of the run, and those of others, are left alone; what an
// earlier run left of the models that are goes when this one does not make it, and so do folders
// that become empty. No symbolic link in DIR is followed. Errors are torch_ir::Error, and leave DIR
// as it was.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/report/pages.h"
#include "harness/results/baseline.h"
#include "harness/results/result.h"
#include "torch_ir/base/work_directory.h"

namespace torch_ir {

class ReportFiles {
 public:
  // Makes `directory` where it is missing. Throws Error where it holds what can not be replaced by
  // the files of `models`.
  ReportFiles(const std::string& directory, const std::vector<std::string>& models);

  // For the files of a run in progress, in the same file system.
  std::string work_directory() const { return (work_directory_.path() / "run").string(); }

  // The page of `result`, its picture, and the files that run_candidate left in `files`. Notes why
  // there is no picture, where there is none.
  // `cases` may have calls of the model.
  void write_model(Result& result, const std::string& files, const RunContext& context,
                   const std::vector<Result>& cases = {}) const;
  // What is about all models. `baseline` is null where there is none to compare with.
  void write_run(const RunRecord& run, const BaselineComparison* baseline) const;

  // Puts what has been written in its place: the files of `models`, and with `has_run` those about
  // all.
  void finish(const std::vector<std::string>& models, bool has_run) const;

 private:
  std::filesystem::path directory_;
  WorkDirectory work_directory_;
  // Where the files of write_model and write_run lie until then.
  std::filesystem::path unfinished_;
};

}  // namespace torch_ir
