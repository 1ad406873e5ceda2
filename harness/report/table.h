// Table: rows of cells, written as Markdown and as HTML.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torch_ir {

struct Cell {
  // Ready to stand in a table of either kind: a figure, a word, or what text_cell and code_cell of
  // page_text.h made for a page that is Markdown only.
  Cell(std::string ready) : markdown(ready), html(std::move(ready)) {}
  Cell(std::string_view ready) : Cell(std::string(ready)) {}
  Cell(const char* ready) : Cell(std::string(ready)) {}
  // Text from elsewhere, made safe for both kinds: as running text, and as code.
  static Cell text(std::string_view text);
  static Cell code(std::string_view text);

  std::string markdown;
  std::string html;

 private:
  Cell(std::string in_markdown, std::string in_html)
      : markdown(std::move(in_markdown)), html(std::move(in_html)) {}
};

class Table {
 public:
  // `alignment` has a letter for each column: 'l', or 'r' for figures.
  Table(std::string alignment, std::vector<Cell> heads)
      : alignment_(std::move(alignment)), heads_(std::move(heads)) {}

  // Columns without a cell stay empty.
  void add(std::vector<Cell> cells);

  size_t num_rows() const { return rows_.size(); }
  // Without the line break at the end.
  std::string markdown() const;
  // The element table: the cells of `columns`, or of all where none are given.
  std::string html(const std::vector<size_t>& columns = {}) const;

 private:
  std::string alignment_;
  std::vector<Cell> heads_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace torch_ir
