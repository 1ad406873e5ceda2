#include "harness/regression/reference_pages.h"

#include <filesystem>
#include <regex>
#include <string_view>

#include "harness/harness.h"
#include "harness/report/page_text.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

std::string differences_as_zero(std::string page) {
  for (size_t at = page.find(kWithinTolerance); at != std::string::npos;
       at = page.find(kWithinTolerance, at)) {
    page.replace(at, kWithinTolerance.size(), "0");
  }
  return page;
}

// Files below `directory` by their paths relative to it.
template <class Predicate>
Files read_files(const std::string& directory, const Predicate& is_wanted) {
  Files files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
    // Lexically: under Bazel the files are links to elsewhere.
    const fs::path path = entry.path().lexically_relative(directory);
    if (is_wanted(path)) files[path.string()] = read_file(entry.path());
  }
  return files;
}

}  // namespace

Files read_pages(const std::string& directory) {
  return read_files(directory, [](const fs::path& path) {
    return path.extension() == ".md" || (path.extension() == ".json" && path.has_parent_path());
  });
}

Files read_pictures(const std::string& directory) {
  return read_files(directory, [](const fs::path& path) { return path.extension() == ".svg"; });
}

std::string portable_graph(const std::string& json) {
  static const std::regex version(R"re("pytorch_version": "[^"]*")re");
  return std::regex_replace(json, version,
                            "\"pytorch_version\": \"" + std::string(kVersionPlaceholder) + "\"");
}

std::vector<std::string> reference_models(const std::string& directory) {
  std::vector<std::string> models;
  for (const auto& [path, content] : read_pages(directory)) {
    const fs::path file = path;
    if (file.parent_path() == "ir") models.push_back(file.stem().string());
  }
  return models;
}

ReferencePages make_reference_pages(const std::vector<std::string>& models,
                                    const std::string& scratch) {
  HarnessOptions options;
  options.registry = models;
  options.output = scratch;
  options.portable = true;
  ReferencePages run{.results = run_harness(options).results,
                     .pages = read_pages(scratch),
                     .pictures = read_pictures(scratch)};
  for (const ModelResult& result : run.results) {
    if (!result.passed()) throw Error(result.name + ": " + result.failure->message);
  }
  for (auto& [path, content] : run.pages) {
    if (path.ends_with(".json")) content = portable_graph(content);
  }
  return run;
}

bool same_page(const std::string& a, const std::string& b) {
  return a == b || differences_as_zero(a) == differences_as_zero(b);
}

}  // namespace torch_ir
