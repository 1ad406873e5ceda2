#include "harness/report/report_files.h"

#include <array>
#include <optional>
#include <system_error>

#include "harness/report/index_page.h"
#include "harness/report/junit.h"
#include "harness/report/run_text.h"
#include "harness/report/work_directory.h"
#include "harness/results/graph_picture.h"
#include "harness/results/results_file.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSummary = "SUMMARY.md";
constexpr const char* kIndex = "index.html";
constexpr const char* kResults = "results.json";
constexpr const char* kJunit = "junit.xml";
constexpr const char* kOperators = "OPERATORS.md";
constexpr std::array kRunFiles = {kSummary, kIndex, kResults, kJunit, kOperators};

// A file, or a folder with all that is in it.
void delete_path(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  // Below what is no directory there is nothing to remove either.
  if (error && error != std::errc::not_a_directory) throw cannot_write(path, error.message());
}

// No folder: it would not be ours.
void delete_file(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) throw cannot_write(path, "it is a directory");
  fs::remove(path, error);
  if (error) throw cannot_write(path, error.message());
}

// What the process of the model drew; drawn here where that came to its end too early.
GraphPicture picture_of(const ModelResult& result, const fs::path& file) {
  if (fs::exists(file)) return {.svg = read_file(file)};
  if (result.is_extracted()) return {.problem = "it is not drawn at full scale"};
  return draw_graph(result);
}

// What an earlier run left of a model, and the folder that it lay in, if that holds no other's.
void delete_output(const fs::path& path) {
  delete_path(path);
  std::error_code not_empty;
  fs::remove(path.parent_path(), not_empty);
}

// Gives `to` the file or folder `from`, or nothing where there is none.
void replace(const fs::path& from, const fs::path& to) {
  if (!fs::exists(from)) return delete_output(to);
  // A file is renamed over the other, a folder can not be.
  if (fs::is_directory(from)) delete_path(to);
  make_directory(to.parent_path());
  std::error_code error;
  fs::rename(from, to, error);
  if (error) throw cannot_write(to, error.message());
}

}  // namespace

ReportFiles::ReportFiles(const std::string& directory)
    : directory_(directory), work_directory_(directory_) {}

void ReportFiles::write_model(ModelResult& result, const std::string& files,
                              const RunContext& context,
                              const std::vector<CaseResult>& cases) const {
  const fs::path from = files;
  const std::string& name = result.name;
  replace(from / "ir.json", directory_ / "ir" / (name + ".json"));
  replace(from / "repro", directory_ / "repro" / name);
  for (const char* kind : {"weights", "inputs", "expected"}) {
    const std::string extension = std::string(".") + kind + ".safetensors";
    replace(from / (extension.substr(1)), directory_ / "tensors" / (name + extension));
  }
  const GraphPicture picture = picture_of(result, from / kPictureFile);
  const fs::path svg = directory_ / "svg" / (name + ".svg");
  if (picture.svg.empty()) {
    delete_output(svg);
  } else {
    make_directory(svg.parent_path());
    write_file(svg, picture.svg);
  }
  result.picture_problem = picture.problem;
  write_file(directory_ / (name + ".md"), render_model_page(result, context, picture, cases));
}

void ReportFiles::remove_run() const {
  for (const char* file : kRunFiles) delete_file(directory_ / file);
}

void ReportFiles::write_run(const RunRecord& run, const BaselineComparison* baseline) const {
  const auto& [coverage, context, results, cases] = run;
  std::optional<ChangesSection> changes;
  if (baseline != nullptr) changes = changes_section(*baseline, context.baseline);
  const auto find_picture = [&](const ModelResult& result) {
    if (!result.picture_problem.empty()) return GraphPicture{.problem = result.picture_problem};
    return GraphPicture{.svg = read_file(directory_ / "svg" / (result.name + ".svg"))};
  };
  write_file(directory_ / kResults, results_to_json(run, baseline));
  write_file(directory_ / kJunit, to_junit_xml(results, context, cases));
  write_file(directory_ / kIndex,
             render_index(results, coverage, context, find_picture, changes, cases));
  if (!cases.empty()) write_file(directory_ / kOperators, render_operators(run));
  write_file(directory_ / kSummary, render_summary(results, coverage, context, changes, cases));
}

}  // namespace torch_ir
