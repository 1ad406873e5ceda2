#include "harness/regression/reference_pages.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <regex>
#include <string_view>

#include "harness/harness.h"
#include "harness/results/run_context.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

// What stands in the place of kWithinTolerance where there is no difference at all.
constexpr std::string_view kNoDifference[] = {"0", "1", "as good as eager"};

// Removes the placeholder from `a`, and from `b` what stands there without a difference.
bool skip_difference(std::string_view& a, std::string_view& b) {
  if (!a.starts_with(kWithinTolerance)) return false;
  const auto same = std::ranges::find_if(kNoDifference, [&](auto it) { return b.starts_with(it); });
  if (same == std::end(kNoDifference)) return false;
  a.remove_prefix(kWithinTolerance.size());
  b.remove_prefix(same->size());
  return true;
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

bool same_page(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (a.front() == b.front()) {
      a.remove_prefix(1);
      b.remove_prefix(1);
    } else if (!skip_difference(a, b) && !skip_difference(b, a)) {
      return false;
    }
  }
  return a.empty() && b.empty();
}

}  // namespace torch_ir
