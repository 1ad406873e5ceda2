#include "harness/report/table.h"

#include <fmt/format.h>

#include <numeric>

#include "harness/report/markup.h"
#include "harness/report/page_text.h"

namespace torch_ir {
namespace {

// "Max&nbsp;diff" is for Markdown, whose columns are as narrow as they can be.
std::string html_name(std::string name) {
  constexpr std::string_view kSpace = "&nbsp;";
  for (size_t at = 0; (at = name.find(kSpace)) != std::string::npos;) {
    name.replace(at, kSpace.size(), " ");
  }
  return name;
}

}  // namespace

Cell Cell::text(std::string_view text) { return Cell(text_cell(text), xml_text(text)); }

Cell Cell::code(std::string_view text) { return Cell(code_cell(text), xml_text(text)); }

void Table::add(std::vector<Cell> cells) {
  cells.resize(heads_.size(), "");
  rows_.push_back(std::move(cells));
}

std::string Table::markdown() const {
  std::string text = "|";
  for (const Cell& head : heads_) {
    text += head.markdown.empty() ? " |" : " " + head.markdown + " |";
  }
  text += "\n|";
  for (const char side : alignment_) text += side == 'r' ? "--:|" : "---|";
  for (const std::vector<Cell>& row : rows_) {
    text += "\n|";
    for (const Cell& cell : row) ((text += ' ') += cell.markdown) += " |";
  }
  return text;
}

std::string Table::html(const std::vector<size_t>& columns) const {
  std::vector<size_t> shown = columns;
  if (shown.empty()) {
    shown.resize(heads_.size());
    std::iota(shown.begin(), shown.end(), 0);
  }
  std::string text = "<table>\n    <thead><tr>";
  for (const size_t i : shown) {
    text += fmt::format("<th scope=\"col\">{}</th>", html_name(heads_[i].html));
  }
  text += "</tr></thead>\n    <tbody>\n";
  for (const std::vector<Cell>& row : rows_) {
    text += "    <tr>";
    for (const size_t i : shown) {
      text +=
          i == 0 ? "<th scope=\"row\">" + row[i].html + "</th>" : "<td>" + row[i].html + "</td>";
    }
    text += "</tr>\n";
  }
  return text + "    </tbody></table>";
}

}  // namespace torch_ir
