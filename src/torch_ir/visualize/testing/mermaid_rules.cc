#include "torch_ir/visualize/testing/mermaid_rules.h"

#include <cstdint>
#include <cstdlib>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "torch_ir/visualize/mermaid.h"

namespace torch_ir {
namespace {

struct LabelRule {
  // Found in a line of a label that breaks the rule.
  std::regex pattern;
  std::string problem;
};

const std::vector<LabelRule>& label_rules() {
  static const std::vector<LabelRule> rules = {
      {std::regex("^ *$"), "an empty line in a label"},
      {std::regex("<"), "'<' in"},
      {std::regex("^`"), "Markdown code:"},
      {std::regex("^>"), "a Markdown quotation:"},
      {std::regex(R"(^([-*+]|\d+[.)]) )"), "a Markdown list:"},
      {std::regex("#(?![0-9A-Za-z]+;)"), "'#' outside of an entity code in"},
  };
  return rules;
}

// JavaScript's length of a string, which is what Mermaid limits: UTF-16 units.
int64_t count_characters(std::string_view text) {
  int64_t count = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_continuation = (byte & 0xC0) == 0x80;
    if (!is_continuation) count += byte >= 0xF0 ? 2 : 1;
  }
  return count;
}

class MermaidChecker {
 public:
  std::vector<std::string> run(std::string_view text) && {
    check_limit(count_characters(text), kGitHubMaxMermaidCharacters, "characters");
    std::istringstream lines{std::string(text)};
    std::string line;
    int64_t num_edges = 0;
    while (std::getline(lines, line)) {
      ++line_;
      static const std::regex kArrow(R"(^ *\w+ (-->|-\.->|---|-\.-|==>))");
      num_edges += std::regex_search(line, kArrow) ? 1 : 0;
      check_line(line);
    }
    check_limit(num_edges, kGitHubMaxMermaidEdges, "edges");
    check_slices();
    return std::move(problems_);
  }

 private:
  void check_limit(int64_t count, int64_t limit, const char* what) {
    if (count <= limit) return;
    problems_.push_back(std::to_string(count) + " " + what + ", more than " +
                        std::to_string(limit));
  }

  void report(const std::string& problem) {
    problems_.push_back("line " + std::to_string(line_) + ": " + problem);
  }

  void check_line(const std::string& line) {
    const size_t begin = line.find('"');
    const size_t end = line.find('"', begin + 1);
    if (begin == std::string::npos || end == std::string::npos) return;
    const std::string label = line.substr(begin + 1, end - begin - 1);
    check_label(label);
    const size_t value = line.find(" : ", end);
    if (value != std::string::npos) add_slice(label, std::strtod(&line[value + 3], nullptr));
  }

  void check_label(std::string label) {
    constexpr std::string_view kLineBreak = "<br/>";
    for (size_t at = 0; at != std::string::npos;) {
      at = label.find(kLineBreak);
      check_label_line(label.substr(0, at));
      if (at != std::string::npos) label.erase(0, at + kLineBreak.size());
    }
  }

  void check_label_line(const std::string& line) {
    for (const LabelRule& rule : label_rules()) {
      if (!std::regex_search(line, rule.pattern)) continue;
      report(rule.problem + (rule.problem.ends_with("label") ? "" : " '" + line + "'"));
    }
  }

  void add_slice(const std::string& label, double value) {
    if (label.find('\\') != std::string::npos) report("a backslash in a label of a pie");
    if (!slice_labels_.insert(label).second) report("a second slice '" + label + "'");
    slices_.emplace_back(line_, value);
  }

  void check_slices() {
    double total = 0;
    for (const auto& [line, value] : slices_) total += value;
    for (size_t i = 0; i + 1 < slices_.size(); ++i) {
      line_ = slices_[i].first;
      if (slices_[i].second * 100 < total) report("a slice under one percent is not drawn");
    }
  }

  std::vector<std::string> problems_;
  int64_t line_ = 0;
  std::set<std::string> slice_labels_;
  // Line and value.
  std::vector<std::pair<int64_t, double>> slices_;
};

}  // namespace

std::vector<std::string> check_mermaid(std::string_view text) { return MermaidChecker().run(text); }

std::vector<std::string> mermaid_blocks(const std::string& page) {
  const std::string fence = "```mermaid\n";
  std::vector<std::string> blocks;
  for (size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    at += fence.size();
    blocks.push_back(page.substr(at, page.find("```", at) - at));
  }
  return blocks;
}

}  // namespace torch_ir
