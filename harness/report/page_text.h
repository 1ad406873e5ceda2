// Text shared by the pages, and the sections of the page of a model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/report/finding.h"
#include "harness/report/markup.h"
#include "harness/report/pages.h"
#include "torch_ir/base/text.h"
#include "torch_ir/ir/json_fields.h"

namespace torch_ir {

struct Cell {
  // Text that needs no escaping: a figure, a word or, for Markdown-only pages, the result of
  // text_cell and code_cell.
  Cell(std::string ready) : markdown(ready), shown(std::move(ready)) {}
  Cell(std::string_view ready) : Cell(std::string(ready)) {}
  Cell(const char* ready) : Cell(std::string(ready)) {}
  // With thousands separators.
  Cell(int64_t figure) : Cell(with_thousands_separators(figure)) {}
  // Escape text for Markdown.
  static Cell text(std::string_view text);
  static Cell code(std::string_view text);
  Cell(std::string in_markdown, std::string_view plain)
      : markdown(std::move(in_markdown)), shown(plain) {}

  std::string markdown;
  // Not escaped.
  std::string shown;
};

class Table {
 public:
  // `alignment` has 'l' or 'r' for each column.
  Table(std::string alignment, std::vector<Cell> heads)
      : alignment_(std::move(alignment)), heads_(std::move(heads)) {}

  // Missing cells are empty.
  void add(std::vector<Cell> cells);

  size_t num_rows() const { return rows_.size(); }
  void shorten(size_t num_rows) { rows_.resize(std::min(num_rows, rows_.size())); }
  Table without_empty_columns() const;
  // Without a final newline; empty if there are no rows.
  std::string markdown() const;
  // {"alignment": "lr", "heads": ["Case", ...], "rows": [[...], ...]}, in plain text.
  json_fields::Json json() const;

 private:
  std::string alignment_;
  std::vector<Cell> heads_;
  std::vector<std::vector<Cell>> rows_;
};

// Summarizes the node-by-node comparison in sentences.
std::string nodes_summary(const NodeReport& report, const Format& code);
// What else there is to say: the first difference, the operators that are faulty, the note.
std::vector<std::string> nodes_paragraphs(const Result& result, const Style& style);
// Which part of the graph the reproducer is.
std::string reproducer_text(const Result& result, const Style& style);

// The maximum difference, which may be empty.
std::string max_diff_text(const Result& result);

// Three digits: "0.00123", "inf"; empty without a value.
std::string short_number(std::optional<double> value);
std::string own_error_cell(const std::optional<OwnError>& error,
                           double OwnError::* figure = &OwnError::rms_ratio);

// "12 of 2,048 (0.586 %)".
std::string share_text(int64_t count, int64_t total);

std::string text_cell(std::string_view text);
std::string code_cell(std::string_view text);
std::string code_list(const std::vector<std::string>& items, std::string_view separator);

std::string link_target(std::string_view path);

// A link to the page of a model.
std::string page_link(const std::string& model);

Table causes_table(const std::vector<FailureCause>& causes,
                   size_t most = std::numeric_limits<size_t>::max());

// "Faulty operators: `aten.layer_norm.default` in 10 of 10 calls."; empty if there are none.
// `nodes` are the operators of the faulty nodes by name.
std::string faulty_operators(const Result& result, const std::map<std::string, std::string>& nodes,
                             const Format& code);

// Where nodes ran, as their executor reports it; no rows if it does not.
Table places_table(std::span<const Result> results, bool has_models);

// "✅", "❌", ...
std::string_view status_mark(Status status);

// A section of a page: `blocks` of Markdown below `heading`, with blank lines between them. Blocks
// may be empty; a section of nothing else is empty too. The heading may be any text, or empty.
std::string section(const std::string& heading, const std::vector<std::string>& blocks);

// What a page shows when asked to; empty if `block` is.
std::string folded(const std::string& summary, const std::string& block);

// What a section about changes since `baseline` says.
std::string changes_text(const BaselineComparison& comparison, const std::string& baseline);

// The environment of a run, without the version of LibTorch.
Environment build_of(const RunContext& context);

// A row: LibTorch, what graphs run on, its device, threads, seed, trials and tolerance, or only the
// first of these.
Table settings_table(const RunContext& context, int num_trials, size_t num_columns = 7);

// How to repeat a run: the first columns of its settings, its build and the command; then `more`.
std::string reproduce_section(const Coverage& coverage, const RunContext& context, int num_trials,
                              size_t num_columns, const std::string& more = "");

// Phrases that name the expected outputs.
struct Reference {
  // "the outputs match ...", "2 outputs compared with ..."
  std::string outputs;
  // "the graph gives 1, ... 2"
  std::string worst;
  std::string explanation;
};

Reference reference_of(const Result& result);

// Sections of the page of a model; each is empty if the page leaves it out.
std::string places_section(const Result& result);
std::string verification_section(const Result& result);
// Outputs, rounded values and values of nodes, in one table.
std::string values_section(const Result& result);
std::string arithmetic_section(const Result& result);
std::string node_section(const Result& result);
std::string float_section(const Result& result);
// The nodes of a split model with the results of their calls, which are among `cases`.
std::string calls_section(const Result& result, const std::vector<Result>& cases);
std::string reproducer_section(const Result& result, const RunContext& context);
std::string graph_summary_section(const Result& result);
std::string graph_section(const Result& result, const GraphPicture& picture);

// A row for each value, without columns that no value fills.
Table values_table(const std::vector<ValueDetail>& values);

// Tables that index.html has too: the most important values, those of the node that differs first,
// and what is folded, by title.
Table values_of_run(const Result& result);
Table statistics_table(const std::optional<Divergence>& divergence);
std::vector<std::pair<std::string, Table>> node_lists(const NodeReport& report);

}  // namespace torch_ir
