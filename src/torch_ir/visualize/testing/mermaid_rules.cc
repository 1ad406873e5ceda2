#include "torch_ir/visualize/testing/mermaid_rules.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <regex>
#include <sstream>
#include <utility>

#include "torch_ir/visualize/mermaid.h"

namespace torch_ir {
namespace {

struct LabelRule {
  std::regex pattern;
  std::string problem;
};

const std::vector<LabelRule>& label_rules() {
  static const std::vector<LabelRule> rules = {
      {std::regex("^ *$"), "an empty line in a label"},
      {std::regex("<"), "'<' in a label"},
      {std::regex("^`"), "Markdown code"},
      {std::regex("^>"), "a Markdown quotation"},
      {std::regex(R"(^([-*+]|\d+[.)]) )"), "a Markdown list"},
      {std::regex("#(?![0-9A-Za-z]+;)"), "'#' outside of an entity code"},
  };
  return rules;
}

// Mermaid limits the length of a JavaScript string: UTF-16 units.
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
    int64_t num_edges = 0;
    for (std::string line; std::getline(lines, line);) {
      static const std::regex kArrow(R"(^ *\w+ (-->|-\.->|---|-\.-|==>))");
      num_edges += std::regex_search(line, kArrow) ? 1 : 0;
      check_line(line);
    }
    check_limit(num_edges, kGitHubMaxMermaidEdges, "edges");
    const auto total = std::accumulate(slices_.begin(), slices_.end(), 0.0);
    for (size_t i = 0; i + 1 < slices_.size(); ++i) {
      if (slices_[i] * 100 < total) report("a slice under one percent is not drawn", labels_[i]);
    }
    return std::move(problems_);
  }

 private:
  void check_limit(int64_t count, int64_t limit, const char* what) {
    if (count <= limit) return;
    problems_.push_back(std::to_string(count) + " " + what + ", more than " +
                        std::to_string(limit));
  }

  void report(const std::string& problem, const std::string& text) {
    problems_.push_back(problem + ": '" + text + "'");
  }

  void check_line(const std::string& line) {
    const size_t begin = line.find('"');
    const size_t end = line.find('"', begin + 1);
    if (begin == std::string::npos || end == std::string::npos) return;
    const std::string label = line.substr(begin + 1, end - begin - 1);
    constexpr std::string_view kLineBreak = "<br/>";
    for (size_t at = 0, next = 0; next != std::string::npos; at = next + kLineBreak.size()) {
      next = label.find(kLineBreak, at);
      check_label_line(label.substr(at, next - at));
    }
    const size_t value = line.find(" : ", end);
    if (value == std::string::npos) return;
    if (label.find('\\') != std::string::npos) report("a backslash in a label of a pie", label);
    if (std::ranges::find(labels_, label) != labels_.end()) report("a second slice", label);
    labels_.push_back(label);
    slices_.push_back(std::strtod(&line[value + 3], nullptr));
  }

  void check_label_line(const std::string& line) {
    for (const LabelRule& rule : label_rules()) {
      if (std::regex_search(line, rule.pattern)) report(rule.problem, line);
    }
  }

  std::vector<std::string> problems_;
  std::vector<std::string> labels_;
  std::vector<double> slices_;
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
