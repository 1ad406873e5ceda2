#include "torch_ir/visualize/testing/mermaid_rules.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <unordered_set>
#include <utility>

#include "torch_ir/visualize/mermaid.h"

namespace torch_ir {
namespace {

using std::literals::operator""sv;

constexpr std::string_view kLineBreak = "<br/>";

constexpr std::array kKeywords = {
    "call"sv,  "class"sv, "classDef"sv, "click"sv,    "default"sv,   "direction"sv, "end"sv,
    "graph"sv, "href"sv,  "style"sv,    "subgraph"sv, "flowchart"sv, "linkStyle"sv,
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kBrackets = {{
    {"[/", "/]"},
    {"[/", "\\]"},
    {"[\\", "/]"},
    {"[\\", "\\]"},
    {"([", "])"},
    {"[", "]"},
    {"(", ")"},
    {"{", "}"},
}};

constexpr std::array kArrows = {"-->"sv, "-.->"sv, "---"sv, "-.-"sv, "==>"sv};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alphanumeric(char c) {
  return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool consume(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::string_view consume_identifier(std::string_view& text) {
  size_t size = 0;
  while (size < text.size() && (is_alphanumeric(text[size]) || text[size] == '_')) ++size;
  const std::string_view identifier = text.substr(0, size);
  text.remove_prefix(size);
  return identifier;
}

std::string_view consume_digits(std::string_view& text) {
  const size_t size = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, size);
  text.remove_prefix(size);
  return digits;
}

// A string in double quotes; nothing when there is none.
std::optional<std::string_view> consume_quoted(std::string_view& text) {
  if (!text.starts_with('"')) return std::nullopt;
  const size_t end = text.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view content = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  return content;
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

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

class Checker {
 public:
  std::vector<std::string> run(std::string_view text) && {
    const int64_t characters = count_characters(text);
    if (characters > kGitHubMaxMermaidCharacters) {
      problems_.push_back(std::to_string(characters) + " characters, more than " +
                          std::to_string(kGitHubMaxMermaidCharacters));
    }
    if (text.ends_with('\n')) text.remove_suffix(1);
    const std::vector<std::string_view> lines = split(text, "\n");
    line_ = 1;
    const bool is_pie = check_header(lines[0]);
    for (size_t i = 1; i < lines.size(); ++i) {
      ++line_;
      std::string_view statement = lines[i];
      statement.remove_prefix(std::min(statement.find_first_not_of(' '), statement.size()));
      if (statement.empty()) continue;
      if (is_pie) {
        check_slice(statement);
      } else {
        check_statement(statement);
      }
    }
    if (is_pie) {
      check_slices();
    } else {
      check_edge_count();
    }
    return std::move(problems_);
  }

 private:
  void report(std::string problem) {
    problems_.push_back("line " + std::to_string(line_) + ": " + std::move(problem));
  }

  // Whether the diagram is a pie.
  bool check_header(std::string_view line) {
    if (consume(line, "pie")) {
      consume(line, " showData");
      has_title_ = consume(line, " title ");
      if (!has_title_ && !line.empty()) report("not the header of a pie");
      return true;
    }
    const bool is_flowchart = consume(line, "flowchart ") || consume(line, "graph ");
    constexpr std::array kDirections = {"TD"sv, "TB"sv, "LR"sv, "BT"sv, "RL"sv};
    const bool has_direction =
        std::find(kDirections.begin(), kDirections.end(), line) != kDirections.end();
    if (!is_flowchart || !has_direction) report("neither a flowchart with a direction nor a pie");
    return false;
  }

  // ID["label"], or ID -->|"label"| ID
  void check_statement(std::string_view rest) {
    const std::string_view id = consume_identifier(rest);
    check_identifier(id);
    if (consume(rest, " ")) {
      check_declared(id);
      check_arrow(rest);
    } else if (!rest.empty() && rest[0] == '-') {
      report("an arrow must stand between spaces");
    } else {
      check_box(id, rest);
    }
  }

  void check_identifier(std::string_view id) {
    if (id.empty()) report("no identifier of letters, digits and underscores");
    if (std::find(kKeywords.begin(), kKeywords.end(), id) != kKeywords.end()) {
      report("the identifier '" + std::string(id) + "' is a keyword");
    }
  }

  void check_declared(std::string_view id) {
    if (!ids_.contains(id)) report("'" + std::string(id) + "' is used before it is declared");
  }

  void check_arrow(std::string_view rest) {
    ++num_edges_;
    if (std::none_of(kArrows.begin(), kArrows.end(),
                     [&](std::string_view arrow) { return consume(rest, arrow); })) {
      return report("neither a box nor an arrow");
    }
    if (consume(rest, "|")) {
      const auto label = consume_quoted(rest);
      if (!label || !consume(rest, "|")) return report("the label is not in double quotes");
      check_label(*label);
    }
    if (!consume(rest, " ")) return report("an arrow must stand between spaces");
    const std::string_view target = consume_identifier(rest);
    check_identifier(target);
    check_declared(target);
    if (!rest.empty()) report("'" + std::string(rest) + "' behind an arrow");
  }

  void check_box(std::string_view id, std::string_view rest) {
    if (!ids_.insert(id).second) report("'" + std::string(id) + "' is declared twice");
    for (const auto& [open, close] : kBrackets) {
      std::string_view inner = rest;
      if (!consume(inner, open)) continue;
      const auto label = consume_quoted(inner);
      if (label && inner == close) return check_label(*label);
    }
    report("not a box with its label in double quotes");
  }

  void check_label(std::string_view label) {
    for (const std::string_view line : split(label, kLineBreak)) check_label_line(line);
  }

  void check_label_line(std::string_view line) {
    const std::string quoted = "'" + std::string(line) + "'";
    if (line.find_first_not_of(' ') == std::string_view::npos) report("an empty line in a label");
    if (line.find('<') != std::string_view::npos) report("'<' in " + quoted);
    if (line.starts_with('`')) report("Markdown code: " + quoted);
    if (line.starts_with('>')) report("a Markdown quotation: " + quoted);
    if (is_list_item(line)) report("a Markdown list: " + quoted);
    if (!entities_are_complete(line)) report("'#' outside of an entity code in " + quoted);
  }

  static bool is_list_item(std::string_view line) {
    if (consume_digits(line).empty()) {
      return line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ");
    }
    return line.starts_with(". ") || line.starts_with(") ");
  }

  static bool entities_are_complete(std::string_view text) {
    for (size_t i = text.find('#'); i != std::string_view::npos; i = text.find('#', i + 1)) {
      size_t end = i + 1;
      while (end < text.size() && is_alphanumeric(text[end])) ++end;
      if (end == i + 1 || end == text.size() || text[end] != ';') return false;
    }
    return true;
  }

  void check_edge_count() {
    if (num_edges_ <= kGitHubMaxMermaidEdges) return;
    problems_.push_back(std::to_string(num_edges_) + " edges, more than " +
                        std::to_string(kGitHubMaxMermaidEdges));
  }

  // "label" : 3
  void check_slice(std::string_view rest) {
    const auto label = consume_quoted(rest);
    if (!label || !consume(rest, " : ")) return report("not a slice, '\"label\" : value'");
    check_label(*label);
    if (label->find('\\') != std::string_view::npos) report("a backslash in a label of a pie");
    if (!slice_labels_.insert(*label).second)
      report("a second slice '" + std::string(*label) + "'");
    const std::string value(rest);
    const std::string_view digits = consume_digits(rest);
    if (consume(rest, ".") && consume_digits(rest).empty()) rest = ".";
    const double number = std::strtod(value.c_str(), nullptr);
    if (digits.empty() || !rest.empty() || number <= 0) {
      return report("'" + value + "' is not a number above 0 in plain digits");
    }
    slices_.emplace_back(line_, number);
  }

  void check_slices() {
    if (slices_.empty() && !has_title_)
      problems_.push_back("a pie with neither slices nor a title");
    double total = 0;
    for (const auto& [line, value] : slices_) total += value;
    for (size_t i = 0; i + 1 < slices_.size(); ++i) {
      line_ = slices_[i].first;
      if (slices_[i].second * 100 < total) report("a slice under one percent is not drawn");
    }
  }

  std::vector<std::string> problems_;
  int64_t line_ = 0;
  int64_t num_edges_ = 0;
  std::unordered_set<std::string_view> ids_;
  bool has_title_ = false;
  std::unordered_set<std::string_view> slice_labels_;
  // Line and value.
  std::vector<std::pair<int64_t, double>> slices_;
};

}  // namespace

std::vector<std::string> check_mermaid(std::string_view text) { return Checker().run(text); }

}  // namespace torch_ir
