#include "torch_ir/harness/reference_pages.h"

#include <filesystem>
#include <regex>
#include <string_view>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/harness/harness.h"
#include "torch_ir/harness/page_text.h"

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

}  // namespace

Files read_pages(const std::string& directory) {
  Files files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
    const std::string extension = entry.path().extension();
    if (extension == ".md" || extension == ".json") {
      // Lexically: under Bazel the files are links to elsewhere.
      files[entry.path().lexically_relative(directory).string()] = read_file(entry.path());
    }
  }
  return files;
}

std::string portable_graph(const std::string& json) {
  static const std::regex version(R"re("pytorch_version": "[^"]*")re");
  return std::regex_replace(json, version,
                            "\"pytorch_version\": \"" + std::string(kVersionPlaceholder) + "\"");
}

ReferenceRun make_reference_pages(const std::string& scratch) {
  HarnessOptions options;
  options.output = scratch;
  options.portable = true;
  ReferenceRun run{.results = run_harness(options).results, .pages = read_pages(scratch)};
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
