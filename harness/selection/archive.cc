#include "torch_ir/harness/selection/archive.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtension = ".pt2";
constexpr const char* kSummaryName = "SUMMARY";

std::string quoted(const std::string& path) { return "'" + printable(path) + "'"; }

void check_file(const std::string& flag, const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw Error(flag + ": there is no file " + quoted(path));
  if (fs::is_directory(status)) throw Error(flag + ": " + quoted(path) + " is a folder");
}

std::string stem(const std::string& path) {
  const std::string name = file_name(path);
  return name.ends_with(kExtension) ? name.substr(0, name.size() - std::string(kExtension).size())
                                    : name;
}

// A name for pages, links and commands.
std::string model_name(const std::string& path) {
  std::string name = stem(path);
  for (char& c : name) {
    const bool fits =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
    if (!fits) c = '_';
  }
  if (name.empty() || name[0] == '.') name.insert(0, "_");
  return name;
}

std::string beside(const std::string& path, const std::string& kind) {
  const fs::path file = fs::path(path).parent_path() / (stem(path) + "." + kind + ".safetensors");
  std::error_code error;
  return fs::is_regular_file(file, error) ? file.string() : "";
}

Archive make_archive(const ArchiveArgument& argument) {
  Archive archive{.name = model_name(argument.path),
                  .path = argument.path,
                  .inputs = argument.inputs,
                  .expected = argument.expected};
  // Whoever gives one of the two means these tensors and no others.
  if (argument.inputs.empty() && argument.expected.empty()) {
    archive.inputs = beside(archive.path, "inputs");
    archive.expected = beside(archive.path, "expected");
  }
  return archive;
}

std::vector<Archive> archives_in(const ArchiveArgument& argument) {
  for (const auto& [flag, value] :
       {std::pair("--inputs", argument.inputs), std::pair("--expected", argument.expected)}) {
    if (value.empty()) continue;
    throw Error(std::string(flag) + ": " + quoted(argument.path) +
                " is a folder; the tensors of NAME.pt2 in it are NAME.inputs.safetensors and "
                "NAME.expected.safetensors");
  }
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator entry(argument.path, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    const bool is_archive =
        entry->path().extension() == kExtension && !entry->is_directory(ignored);
    if (is_archive) paths.push_back(entry->path().string());
  }
  if (error) throw Error("--pt2: cannot read " + quoted(argument.path) + ": " + error.message());
  if (paths.empty()) throw Error("--pt2: there is no .pt2 file in " + quoted(argument.path));
  std::sort(paths.begin(), paths.end());
  std::vector<Archive> archives;
  for (const std::string& path : paths) archives.push_back(make_archive({.path = path}));
  return archives;
}

void check_names(const std::vector<Archive>& archives, const std::vector<std::string>& taken) {
  for (size_t i = 0; i < archives.size(); ++i) {
    const Archive& archive = archives[i];
    const auto fail = [&](const std::string& what) {
      throw Error("--pt2: the page of " + quoted(archive.path) + " would be that of " + what +
                  ", " + archive.name + ".md: rename the archive");
    };
    if (archive.name == kSummaryName) fail("the run");
    if (std::find(taken.begin(), taken.end(), archive.name) != taken.end()) {
      fail("the registered model");
    }
    for (size_t k = 0; k < i; ++k) {
      if (archives[k].name == archive.name) fail(quoted(archives[k].path));
    }
  }
}

}  // namespace

std::vector<Archive> find_archives(const std::vector<ArchiveArgument>& arguments,
                                   const std::vector<std::string>& taken) {
  std::vector<Archive> archives;
  for (const ArchiveArgument& argument : arguments) {
    std::error_code error;
    if (fs::is_directory(argument.path, error)) {
      const std::vector<Archive> found = archives_in(argument);
      archives.insert(archives.end(), found.begin(), found.end());
      continue;
    }
    check_file("--pt2", argument.path);
    if (!argument.inputs.empty()) check_file("--inputs", argument.inputs);
    if (!argument.expected.empty()) check_file("--expected", argument.expected);
    archives.push_back(make_archive(argument));
  }
  check_names(archives, taken);
  return archives;
}

std::string file_name(const std::string& path) {
  const fs::path lexical = fs::path(path).lexically_normal();
  const fs::path name =
      lexical.has_filename() ? lexical.filename() : lexical.parent_path().filename();
  return name.empty() ? path : name.string();
}

}  // namespace torch_ir
