#include "harness/regression/reference_pages.h"

#include <c10/util/StringUtil.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string_view>

#include "harness/harness.h"
#include "torch_ir/analysis/diff.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/resolve.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndexLink = " To search, filter and sort: [`index.html`](index.html).";

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
  ReferencePages run{
      .results = run_harness({.context = {.output = scratch}, .registry = models}).results,
      .pages = read_pages(scratch),
      .pictures = read_pictures(scratch)};
  for (const Result& result : run.results) {
    if (!result.passed()) throw Error(result.name + ": " + result.failure->message);
  }
  // No index.html lies beside the reference pages.
  if (const auto summary = run.pages.find("SUMMARY.md"); summary != run.pages.end()) {
    c10::ReplaceAll(summary->second, kIndexLink, "");
  }
  return run;
}

namespace {

constexpr size_t kMaxLines = 12;

// Figures, which have a point or an exponent, agree within this distance. A smaller one is noise of
// the last bits.
constexpr double kRelativeTolerance = 1e-2;
constexpr double kNoise = 1e-5;

// The beginnings of lines that depend on the build of LibTorch, on Graphviz, or on which element
// differs most.
constexpr std::string_view kOfMachine[] = {"Details of the build", "There is no picture",
                                           "A picture ",           "The whole graph, ",
                                           "[![The graph of ",     "Values that are wrong "};

struct Line {
  size_t number = 0;
  std::string text = {};
};

// The lines of a page that are the same on all machines, without versions. An output that differs
// from the model's in the last bits has a part of its own, below "####".
std::vector<Line> comparable_lines(const std::string& page) {
  static const std::regex version(R"(`[0-9]+\.[0-9]+\.[0-9][^`]*`)");
  // An SNR of the last bits, before its cosine similarity, in the row of a model: 146 here, `inf`
  // there.
  static const std::regex snr(
      R"(^(\| \[.*\| )(?:inf|[1-9][0-9]{2}[.0-9]*)(?= \| (?:1|0\.9+[0-9]*) \| [^|]+ \| [^|]* \|$))");
  // So too in the row of an output, with its verdict.
  static const std::regex row(
      R"(\| (?:inf|[1-9][0-9]{2}[.0-9]*)(?= \| [0-9,]+ \| [^|]+ \| [^|]+ \| (?:equal|within the tolerance) \|$))");
  static const std::regex verdict(R"(\| equal \|$)");
  std::vector<Line> lines;
  std::istringstream stream(page);
  bool is_of_output = false;
  size_t number = 0;
  for (std::string text; std::getline(stream, text);) {
    ++number;
    if (text.starts_with("## ") || text.starts_with("###")) is_of_output = text.starts_with("####");
    const bool is_of_machine = std::ranges::any_of(
        kOfMachine, [&](std::string_view beginning) { return text.starts_with(beginning); });
    if (text.empty() || is_of_output || is_of_machine) continue;
    text = std::regex_replace(text, snr, "$1at least 1e2");
    text = std::regex_replace(text, row, "| at least 1e2");
    text = std::regex_replace(text, verdict, "| within the tolerance |");
    lines.push_back({number, std::regex_replace(text, version, "`version`")});
  }
  return lines;
}

bool is_near(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const bool are_counts = (a + b).find_first_of(".e") == std::string::npos;
  const double x = std::stod(a);
  const double y = std::stod(b);
  return !are_counts && std::abs(x - y) <= kNoise + kRelativeTolerance * std::abs(y);
}

bool is_same_line(const Line& a, const Line& b) {
  static const std::regex number("[0-9]+([.][0-9]+)?(e[-+][0-9]+)?");
  if (a.text == b.text) return true;
  const auto words = [](const Line& line) { return std::regex_replace(line.text, number, "#"); };
  if (words(a) != words(b)) return false;
  const auto numbers = [](const Line& line) {
    return std::sregex_iterator(line.text.begin(), line.text.end(), number);
  };
  return std::equal(numbers(a), std::sregex_iterator(), numbers(b),
                    [](const auto& x, const auto& y) { return is_near(x.str(), y.str()); });
}

void append_lines(std::string& out, char sign, const std::vector<Line>& lines, size_t first,
                  size_t last) {
  for (size_t i = first; i < std::min(last, first + kMaxLines); ++i) {
    out += fmt::format("{}{}\n", sign, printable(lines[i].text));
  }
  if (last > first + kMaxLines) {
    out += fmt::format("{}... {} more lines\n", sign, last - first - kMaxLines);
  }
}

}  // namespace

// The lines between the common prefix and the common suffix.
std::string page_difference(const std::string& golden, const std::string& now) {
  const std::vector<Line> before = comparable_lines(golden);
  const std::vector<Line> after = comparable_lines(now);
  const auto head = std::ranges::mismatch(before, after, is_same_line);
  if (head.in1 == before.end() && head.in2 == after.end()) return "";
  const auto first = static_cast<size_t>(head.in1 - before.begin());
  size_t before_end = before.size();
  size_t after_end = after.size();
  while (before_end > first && after_end > first &&
         is_same_line(before[before_end - 1], after[after_end - 1])) {
    --before_end;
    --after_end;
  }
  const Line& line = first < before.size() ? before[first] : after[first];
  std::string out = fmt::format("line {}:\n", line.number);
  append_lines(out, '-', before, first, before_end);
  append_lines(out, '+', after, first, after_end);
  return out;
}

std::string graph_difference(const std::string& golden, const std::string& now) {
  const IR before = IR::from_json(golden);
  IR after = IR::from_json(now);
  after.pytorch_version = before.pytorch_version;
  if (before == after) return "";
  const GraphDiff difference = diff(resolve(before), resolve(after));
  std::string out = summary_text(difference) + '\n';
  for (const Change& change : difference.changes) out += change_text(change) + '\n';
  for (const Change& rename : difference.renames) out += change_text(rename) + '\n';
  return out;
}

}  // namespace torch_ir
