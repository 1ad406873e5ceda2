#include "harness/regression/reference_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <regex>
#include <string_view>
#include <vector>

#include "harness/harness.h"
#include "harness/results/run_context.h"
#include "torch_ir/analysis/diff.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

// Equal to kWithinTolerance on a machine without any difference.
constexpr std::string_view kNoDifference[] = {"0", "1", "as good as eager"};

bool skip_difference(std::string_view& a, std::string_view& b) {
  if (!a.starts_with(kWithinTolerance)) return false;
  const auto same = std::ranges::find_if(kNoDifference, [&](auto it) { return b.starts_with(it); });
  if (same == std::end(kNoDifference)) return false;
  a.remove_prefix(kWithinTolerance.size());
  b.remove_prefix(same->size());
  return true;
}

template <class Predicate>
Files read_files(const std::string& directory, const Predicate& is_wanted) {
  Files files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
    // Lexically, because under Bazel the files are links to other folders.
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
  for (const Result& result : run.results) {
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

namespace {

constexpr size_t kMaxLines = 12;

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void append_lines(std::string& out, char sign, const std::vector<std::string_view>& lines,
                  size_t first, size_t last) {
  for (size_t i = first; i < std::min(last, first + kMaxLines); ++i) {
    out += fmt::format("{}{}\n", sign, printable(lines[i]));
  }
  if (last > first + kMaxLines) {
    out += fmt::format("{}... {} more lines\n", sign, last - first - kMaxLines);
  }
}

// The lines between the common prefix and the common suffix.
std::string changed_lines(std::string_view golden, std::string_view now) {
  const std::vector<std::string_view> before = split_lines(golden);
  const std::vector<std::string_view> after = split_lines(now);
  const auto head = std::ranges::mismatch(before, after);
  const size_t first = static_cast<size_t>(head.in1 - before.begin());
  size_t before_end = before.size();
  size_t after_end = after.size();
  while (before_end > first && after_end > first &&
         before[before_end - 1] == after[after_end - 1]) {
    --before_end;
    --after_end;
  }
  std::string out = fmt::format("line {}:\n", first + 1);
  append_lines(out, '-', before, first, before_end);
  append_lines(out, '+', after, first, after_end);
  return out;
}

}  // namespace

std::string graph_difference(const std::string& golden, const std::string& now) {
  const IR before = IR::from_json(portable_graph(golden));
  const IR after = IR::from_json(portable_graph(now));
  if (before == after) return "";
  const GraphDiff difference = diff(before, after);
  std::string out = summary_text(difference) + '\n';
  for (const Change& change : difference.changes) out += change_text(change) + '\n';
  for (const Change& rename : difference.renames) out += change_text(rename) + '\n';
  return out;
}

std::string page_difference(const std::string& golden, const std::string& now) {
  return same_page(golden, now) ? "" : changed_lines(golden, now);
}

}  // namespace torch_ir
