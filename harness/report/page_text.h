// What the pages are made of: pieces of text that they have in common, and sections of a model's
// page.
#pragma once

#include <cstdint>
#include <kainjow/mustache.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/report/pages.h"

namespace torch_ir {

struct Cell {
  // Ready to stand in a table of either kind: a figure, a word, or what text_cell and code_cell of
  // page_text.h made for a page that is Markdown only.
  Cell(std::string ready) : markdown(ready), html(std::move(ready)) {}
  Cell(std::string_view ready) : Cell(std::string(ready)) {}
  Cell(const char* ready) : Cell(std::string(ready)) {}
  // With thousands separators.
  Cell(int64_t figure);
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

// The figures of a difference, as they are shown.
std::string difference_text(double difference, const RunContext& context);
std::string count_text(int64_t mismatched, double max_diff, const RunContext& context);
std::string tolerance_figure(double smallest, const RunContext& context);

// How an output that differs by `max_diff` compares with float64.
std::string factor_text(double factor, double max_diff, const RunContext& context);

// `cells`, and behind them what float64 says of it: the errors of executor and eager, the opinion.
std::vector<Cell> with_opinion(std::vector<Cell> cells, const SecondOpinion& opinion,
                               double max_diff, const RunContext& context);

// Of a single call: "✅", "❌" or "–", and its difference, empty where it has none.
std::string_view case_mark(const Result& result);
std::string max_diff_text(const Result& result, const RunContext& context);

// Three digits: "0.00123", "inf".
std::string short_number(double value);

// "12 of 2,048 (0.586 %)".
std::string share_text(int64_t count, int64_t total);

// "1 node", "27 nodes".
std::string counted(int64_t count, std::string_view noun);

// Cells of a table.
std::string text_cell(std::string_view text);
std::string code_cell(std::string_view text);
// `items` as code, with `separator` between them.
std::string code_list(const std::vector<std::string>& items, std::string_view separator);

// `path` as the target of a link.
std::string link_target(std::string_view path);

// The sign of a status: "✅", "❌", ...
std::string_view status_mark(Status status);

// Sets `key` where there is something to show, so that its section of the template is left out
// otherwise.
void set_some(kainjow::mustache::data& data, const char* key, const std::string& text);
void set_some(kainjow::mustache::data& data, const char* key, const Table& table);

// The rows that say how a run was made, in which models ran `num_trials` times.
void set_environment(kainjow::mustache::data& page, const RunContext& context, int num_trials);

// `page` in `text`, as Markdown: of several blank lines one is kept. Throws Error when the template
// is not well formed.
std::string render(std::string_view text, const kainjow::mustache::data& page);

// The same, with all blank lines.
std::string render_exactly(std::string_view text, const kainjow::mustache::data& page);

// --- The sections of a model's page, as data for its template ---

// What the outputs are compared with, in the places that say it.
struct Reference {
  // "the graph computes what ..."
  std::string verdict;
  // "2 outputs compared with ..."
  std::string detail;
  // "the graph gives 1, ... 2"
  std::string worst;
  // A sentence.
  std::string explanation;
};

Reference reference_of(const Result& result);

// Trials, outputs and tolerances; of a result that has trials.
kainjow::mustache::data verification_section(const Result& result, const RunContext& context);

kainjow::mustache::data node_section(const NodeReport& report, const RunContext& context);

// The nodes of a model that was taken apart, with the results of `cases` that occur in it; without
// "table" where there are none.
kainjow::mustache::data calls_section(const Result& result, const std::vector<Result>& cases,
                                      const RunContext& context);

// Of a result that has a reproducer.
kainjow::mustache::data reproducer_section(const Result& result, const RunContext& context);

// Of a result that has a graph.
kainjow::mustache::data graph_section(const Result& result, const RunContext& context,
                                      const GraphPicture& picture);

}  // namespace torch_ir
