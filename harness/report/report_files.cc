#include "harness/report/report_files.h"

#include <array>
#include <functional>
#include <system_error>
#include <utility>

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
// The last file marks the run as complete.
constexpr std::array kRunFiles = {kJunit, kIndex, kOperators, kSummary, kResults};

// Prefixes and suffixes of a model's name; a suffix of "/" marks a folder.
constexpr std::array<std::pair<const char*, const char*>, 4> kModelFiles = {
    {{"", ".md"}, {"ir/", ".json"}, {"svg/", ".svg"}, {"repro/", "/"}}};

constexpr std::array kTensors = {"weights", "inputs", "expected", "outputs", "values"};

std::string tensors_name(const std::string& model, const char* kind) {
  return "tensors/" + model + "." + kind + ".safetensors";
}

void add_model_files(const std::string& model, std::vector<std::string>& names) {
  for (const auto& [before, behind] : kModelFiles) names.push_back(before + model + behind);
  for (const char* kind : kTensors) names.push_back(tensors_name(model, kind));
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw Error("cannot make '" + path.string() + "': " + error.message());
}

void move_if_there(const fs::path& from, const fs::path& to) {
  if (!fs::exists(from)) return;
  make_folder(to.parent_path());
  std::error_code error;
  fs::rename(from, to, error);
  if (error) throw Error("cannot write '" + to.string() + "': " + error.message());
}

void write_pieces(const fs::path& path, const std::function<void(const PutText& put)>& write) {
  AtomicFile file(path);
  write([&](std::string_view piece) { file.write(piece); });
  file.commit();
}

}  // namespace

ReportFiles::ReportFiles(const std::string& directory, const std::vector<std::string>& models)
    : directory_(directory),
      work_directory_(directory_),
      unfinished_(work_directory_.path() / "finished") {
  std::vector<std::string> names(kRunFiles.begin(), kRunFiles.end());
  for (const std::string& model : models) add_model_files(model, names);
  check_replaceable(directory_, names);
  make_folder(work_directory());
  make_folder(unfinished_);
}

GraphPicture ReportFiles::picture_of_page(const Result& result) const {
  if (!result.picture_problem.empty()) return {.problem = result.picture_problem};
  const fs::path svg = unfinished_ / "svg" / (result.name + ".svg");
  // Of a model that did not run again.
  if (!fs::exists(svg)) {
    return draw_saved_graph(result, (directory_ / "ir" / (result.name + ".json")).string());
  }
  return {.svg = read_file(svg),
          .data = read_file(unfinished_ / "graph_data" / (result.name + ".json"))};
}

void ReportFiles::write_calls(const Result& result, const RunContext& context,
                              const std::vector<Result>& cases) const {
  write_file(unfinished_ / (result.name + ".md"),
             render_model_page(result, context, picture_of_page(result), cases));
}

void ReportFiles::write_model(Result& result, const std::string& files,
                              const RunContext& context) const {
  const fs::path from = files;
  const std::string& name = result.name;
  // If the model's process ended first, the picture is drawn here. Only index.html has its data.
  if (result.graph && !fs::exists(from / kPictureFile)) {
    const GraphPicture picture = result.is_extracted()
                                     ? GraphPicture{.problem = "full-scale graphs are not drawn"}
                                     : draw_graph(result);
    result.picture_problem = picture.problem;
    if (!picture.svg.empty()) write_file(from / kPictureFile, picture.svg);
    if (!picture.svg.empty()) write_file(from / kDataFile, picture.data);
  }
  move_if_there(from / kPictureFile, unfinished_ / "svg" / (name + ".svg"));
  move_if_there(from / kDataFile, unfinished_ / "graph_data" / (name + ".json"));
  move_if_there(from / "ir.json", unfinished_ / "ir" / (name + ".json"));
  move_if_there(from / "repro", unfinished_ / "repro" / name);
  for (const char* kind : kTensors) {
    move_if_there(from / (std::string(kind) + ".safetensors"),
                  unfinished_ / tensors_name(name, kind));
  }
  result.has_values = fs::exists(unfinished_ / values_file(name));
  write_calls(result, context, {});
}

void ReportFiles::write_run(const RunRecord& run, const BaselineComparison* baseline) const {
  const auto find_picture = [&](const Result& result) { return picture_of_page(result); };
  write_pieces(unfinished_ / kResults,
               [&](const PutText& put) { write_results(run, baseline, put); });
  write_file(unfinished_ / kJunit, to_junit_xml(run));
  write_pieces(unfinished_ / kIndex,
               [&](const PutText& put) { write_index(run, baseline, find_picture, put); });
  if (!run.cases.empty()) write_file(unfinished_ / kOperators, render_operators(run));
  write_file(unfinished_ / kSummary, render_summary(run, baseline));
}

void ReportFiles::finish(const std::vector<std::string>& models, bool has_run) const {
  std::vector<std::string> names;
  for (const std::string& model : models) add_model_files(model, names);
  if (has_run) names.insert(names.end(), kRunFiles.begin(), kRunFiles.end());
  move_files(unfinished_, directory_, names);
}

}  // namespace torch_ir
