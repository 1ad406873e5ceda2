#include "harness/results/model_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/file_names.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSummaryName = "SUMMARY";
constexpr const char* kGraphFile = "ir.json";

std::string in_quotes(const std::string& path) { return "'" + printable(path) + "'"; }

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_same_file(const std::string& path, const std::string& other) {
  std::error_code error;
  return fs::equivalent(path, other, error);
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

void check_file(const std::string& flag, const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw Error(flag + ": cannot find " + in_quotes(path));
  if (fs::is_directory(status)) throw Error(flag + ": " + in_quotes(path) + " is a folder");
}

// "model", or "model.decode" for the program "decode".
std::string stem(const ModelFiles& files) {
  std::string name = file_name(files.path);
  const std::string_view extension = files.format == FileFormat::kArchive ? ".pt2" : ".json";
  if (name.ends_with(extension)) name.resize(name.size() - extension.size());
  return files.program.empty() ? name : name + "." + files.program;
}

// "NAME.inputs.", or "inputs." for the graph of a folder.
std::string start_of_name(const ModelFiles& files, const std::string& kind) {
  return (files.is_graph_of_folder() ? "" : stem(files) + ".") + kind + ".";
}

// "NAME.inputs.safetensors", or "NAME.inputs.2.safetensors" for the second set.
std::string beside(const ModelFiles& files, const std::string& kind, int set = 1) {
  const std::string number = set == 1 ? "" : fmt::format("{}.", set);
  const std::string name = start_of_name(files, kind) + number + "safetensors";
  return (fs::path(files.path).parent_path() / name).string();
}

// Whether the model has this file; what has its name and is none is an error.
bool has_file(const ModelFiles& files, const std::string& path) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return false;
  if (is_file(path)) return true;
  throw Error(flag_of(files.format) + ": " + in_quotes(path) +
              " is a folder, or a link to a file that is not there");
}

std::string weights_beside(const ModelFiles& files) {
  const std::string path = beside(files, "weights");
  return has_file(files, path) ? path : "";
}

// Sorted by name.
std::vector<fs::path> entries_of(const fs::path& folder, std::error_code& error) {
  std::vector<fs::path> entries;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    entries.push_back(entry->path());
  }
  std::ranges::sort(entries);
  return entries;
}

// The numbers of the sets of `kind` beside the model.
std::set<int> sets_beside(const ModelFiles& files, const std::string& kind) {
  std::set<int> sets;
  if (has_file(files, beside(files, kind))) sets.insert(1);
  const std::string start = start_of_name(files, kind);
  const fs::path folder = fs::path(files.path).parent_path();
  std::error_code ignored;
  for (const fs::path& entry : entries_of(folder.empty() ? "." : folder, ignored)) {
    const std::string name = entry.filename().string();
    constexpr std::string_view kEnd = ".safetensors";
    std::string_view number = name;
    if (!number.starts_with(start)) continue;
    number.remove_prefix(start.size());
    if (!number.ends_with(kEnd)) continue;
    number.remove_suffix(kEnd.size());
    // A number that is too large leaves 0.
    int set = 0;
    const char* end = number.data() + number.size();
    if (number.empty() || std::from_chars(number.data(), end, set).ptr != end) continue;
    const std::string path = beside(files, kind, set);
    if (set < 2 || name != file_name(path)) {
      throw Error(
          fmt::format("{}: {} is no set of tensors: the first has no number, the others 2, 3, ...",
                      flag_of(files.format), in_quotes(entry.string())));
    }
    if (has_file(files, path)) sets.insert(set);
  }
  return sets;
}

// Each set has inputs, and expected outputs if any set has them. A single file of expected outputs
// may belong to the example inputs of an archive.
void find_sets(ModelFiles& files) {
  const std::set<int> inputs = sets_beside(files, "inputs");
  const std::set<int> expected = sets_beside(files, "expected");
  const auto fail = [&](const std::string& missing, const std::string& found) {
    throw Error(fmt::format("{}: cannot find {} beside {}", flag_of(files.format),
                            in_quotes(missing), in_quotes(found)));
  };
  std::set<int> all = inputs;
  all.insert(expected.begin(), expected.end());
  const int last = all.empty() ? 0 : *all.rbegin();
  const std::string last_file = beside(files, inputs.contains(last) ? "inputs" : "expected", last);
  for (int set = 1; set <= last; ++set) {
    const std::string input = beside(files, "inputs", set);
    const std::string output = beside(files, "expected", set);
    if (inputs.contains(set)) files.inputs.push_back(input);
    if (expected.contains(set)) files.expected.push_back(output);
    if (!inputs.contains(set) && last > 1) fail(input, last_file);
    if (!expected.contains(set) && !expected.empty()) fail(output, input);
  }
}

ModelFiles make_files(ModelFiles files) {
  if (files.is_graph() && !files.program.empty()) {
    throw Error("--program needs a --pt2; " + in_quotes(files.path) + " is a graph");
  }
  files.name = file_name_of(files.is_graph_of_folder() ? files.short_name() : stem(files));
  // Tests in BUILD files name them.
  if (files.inputs.empty() && files.expected.empty()) find_sets(files);
  files.weights = weights_beside(files);
  if (files.is_graph() && files.inputs.empty()) {
    throw Error("--ir: cannot find " + in_quotes(beside(files, "inputs")) + " with the inputs of " +
                in_quotes(files.path));
  }
  return files;
}

std::vector<std::string> models_in(const ModelFiles& folder) {
  const bool has_archives = folder.format == FileFormat::kArchive;
  std::error_code error;
  const std::vector<fs::path> entries = entries_of(folder.path, error);
  if (error) {
    throw Error(flag_of(folder.format) + ": cannot read " + in_quotes(folder.path) + ": " +
                error.message());
  }
  std::vector<std::string> paths;
  for (const fs::path& entry : entries) {
    const std::string path = has_archives ? entry.string() : (entry / kGraphFile).string();
    const bool is_model =
        has_archives ? entry.extension() == ".pt2" && !is_folder(path) : is_file(path);
    if (is_model) paths.push_back(path);
  }
  if (!paths.empty()) return paths;
  throw Error(has_archives
                  ? "--pt2: no .pt2 file in " + in_quotes(folder.path)
                  : "--ir: no ir.json in " + in_quotes(folder.path) + " or its subfolders");
}

void add_found(ModelFiles argument, std::vector<ModelFiles>& models) {
  const std::string graph = (fs::path(argument.path) / kGraphFile).string();
  if (argument.is_graph() && is_file(graph)) argument.path = graph;
  if (!is_folder(argument.path)) {
    check_file(flag_of(argument.format), argument.path);
    if (!argument.against.empty()) files_against(argument.against);
    models.push_back(make_files(argument));
    return;
  }
  for (const auto& [flag, value] :
       {std::pair("--against", argument.against), std::pair("--program", argument.program)}) {
    if (value.empty()) continue;
    throw Error(std::string(flag) + ": " + in_quotes(argument.path) +
                " is a folder of models; give the single model that it belongs to");
  }
  for (const std::string& path : models_in(argument)) {
    models.push_back(make_files({.format = argument.format, .path = path}));
  }
}

void check_names(const std::vector<ModelFiles>& models, const RegistryNames& registry) {
  for (size_t i = 0; i < models.size(); ++i) {
    const ModelFiles& model = models[i];
    const bool is_archive = model.format == FileFormat::kArchive;
    const auto fail = [&](const std::string& other) {
      throw Error(flag_of(model.format) + ": " + in_quotes(model.path) + " and " + other +
                  " would have the same page, " + model.name + ".md; rename the " +
                  (is_archive                   ? "archive"
                   : model.is_graph_of_folder() ? "folder"
                                                : "file"));
    };
    if (model.name == kSummaryName) fail("the run");
    const std::vector<std::string>& taken = is_archive ? registry.all : registry.running;
    if (std::ranges::find(taken, model.name) != taken.end()) fail("the registered model");
    for (size_t k = 0; k < i; ++k) {
      if (models[k].name != model.name) continue;
      if (is_same_file(models[k].path, model.path)) {
        throw Error(flag_of(model.format) + ": " + in_quotes(model.path) +
                    " is given twice, but a run has only one page for it, " + model.name + ".md");
      }
      fail(in_quotes(models[k].path));
    }
  }
}

// Puts folders before the names of files that share one, as few as tell them apart: "A_model" for
// A/model.pt2 beside B/model.pt2.
void add_folders(std::vector<ModelFiles>& models) {
  std::vector<fs::path> folders;
  for (const ModelFiles& model : models) {
    std::error_code error;
    const fs::path file = fs::absolute(model.path, error).lexically_normal();
    folders.push_back((model.is_graph_of_folder() ? file.parent_path() : file).parent_path());
  }
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    const std::vector<ModelFiles> before = models;
    for (size_t i = 0; i < models.size(); ++i) {
      const bool is_shared = std::ranges::any_of(before, [&](const ModelFiles& other) {
        return other.name == before[i].name && !is_same_file(other.path, models[i].path);
      });
      if (!is_shared || !folders[i].has_filename()) continue;
      models[i].name = file_name_of(folders[i].filename().string() + '/' + models[i].name);
      folders[i] = folders[i].parent_path();
      has_changed = true;
    }
  }
}

// Adds a number to names that differ from earlier ones only by case.
void tell_apart(std::vector<ModelFiles>& models) {
  std::set<std::u32string> taken = {without_case(kSummaryName)};
  for (ModelFiles& model : models) {
    const std::string name = model.name;
    for (int number = 2; !taken.insert(without_case(model.name)).second; ++number) {
      model.name = fmt::format("{}-{}", name, number);
    }
  }
}

}  // namespace

std::string flag_of(FileFormat format) { return format == FileFormat::kArchive ? "--pt2" : "--ir"; }

bool ModelFiles::is_graph_of_folder() const {
  return is_graph() && fs::path(path).filename() == kGraphFile;
}

std::string ModelFiles::short_name() const {
  const fs::path full = user_path(path);
  const fs::path named = is_graph_of_folder() ? full.parent_path() : full;
  // Also of a folder such as ".".
  std::error_code error;
  const fs::path absolute = fs::absolute(named, error);
  return file_name(error ? named : absolute);
}

std::vector<ModelFiles> find_model_files(const std::vector<ModelFiles>& given,
                                         const RegistryNames& registry) {
  std::vector<ModelFiles> models;
  for (const ModelFiles& argument : given) add_found(argument, models);
  add_folders(models);
  check_names(models, registry);
  tell_apart(models);
  return models;
}

ModelFiles files_against(const std::string& path) {
  ModelFiles files{.path = path};
  if (is_folder(path)) files.path = (fs::path(path) / kGraphFile).string();
  check_file("--against", files.path);
  if (files.path.ends_with(".json")) files.format = FileFormat::kGraph;
  files.weights = weights_beside(files);
  return files;
}

const std::string& name_of(const ModelSource& source) {
  if (const auto* files = std::get_if<ModelFiles>(&source)) return files->name;
  if (const auto* single = std::get_if<CaseSource>(&source)) return single->info.name;
  return std::get<std::string>(source);
}

std::string file_name(const std::string& path) {
  const fs::path lexical = fs::path(path).lexically_normal();
  const fs::path name =
      lexical.has_filename() ? lexical.filename() : lexical.parent_path().filename();
  return name.empty() ? path : name.string();
}

}  // namespace torch_ir
