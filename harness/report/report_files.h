// ReportFiles: writes the output directory of a run.
//
//   DIR/SUMMARY.md                    the results of the run
//   DIR/<Model>.md                    a page for each model
//   DIR/ir/<Model>.json, DIR/svg/<Model>.svg   its graph and a picture of it
//   DIR/repro/<Model>/                its smallest failing part, if it fails
//   DIR/tensors/<Model>.{weights,inputs,expected,outputs}.safetensors   with save_tensors
//   DIR/tensors/<Model>.values.safetensors   with RunSettings::save_values
//   DIR/index.html                    the whole run, for browsers
//   DIR/results.json, DIR/junit.xml   the whole run, for programs
//
// Files are made in a hidden folder of DIR and moved (base/work_directory.h) when the run is done,
// results.json last; a killed run leaves DIR as it was. Files of other models and unrelated
// files stay. Old files of this run's models that it does not replace are removed, and so are
// folders that become empty. Symbolic links in DIR are not followed. Errors are torch_ir::Error and
// leave DIR as it was.
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
  // Makes `directory` if missing. Throws Error if files of `models` could not replace what it
  // holds.
  ReportFiles(const std::string& directory, const std::vector<std::string>& models);

  std::string work_directory() const { return (work_directory_.path() / "run").string(); }

  // Writes the page of `result` and its picture, and takes the files that run_candidate left in
  // `files`. Sets picture_problem if there is no picture, and has_values.
  void write_model(Result& result, const std::string& files, const RunContext& context) const;
  // Writes the page again, with the model's calls among `cases`. `result` has its graph.
  void write_calls(const Result& result, const RunContext& context,
                   const std::vector<Result>& cases) const;
  // Writes the files about the whole run. `baseline` may be null.
  void write_run(const RunRecord& run, const BaselineComparison* baseline) const;

  // Moves files into place: those of `models` and, with `has_run`, those about the run.
  void finish(const std::vector<std::string>& models, bool has_run) const;

 private:
  GraphPicture picture_of_page(const Result& result) const;

  std::filesystem::path directory_;
  WorkDirectory work_directory_;
  std::filesystem::path unfinished_;
};

}  // namespace torch_ir
