#include "harness/report/page_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/version.h>

#include "torch_ir/base/characters.h"
#include "torch_ir/base/tolerance.h"
#include "torch_ir/runtime/graph/execution_options.h"

namespace torch_ir {

std::string max_diff_text(const Result& result) {
  return short_number(difference_metrics(result).max_diff);
}

std::string short_number(std::optional<double> value) {
  return value ? fmt::format("{:.3g}", *value) : "";
}

std::string own_error_cell(const std::optional<OwnError>& error, double OwnError::* figure) {
  return error ? short_number((*error).*figure) : "";
}

std::string share_text(int64_t count, int64_t total) {
  const double percent = total == 0 ? 0 : 100.0 * static_cast<double>(count) / total;
  return fmt::format("{} of {} ({:.3g} %)", with_thousands_separators(count),
                     with_thousands_separators(total), percent);
}

std::string link_target(std::string_view path) {
  std::string target;
  for (const char c : path) {
    const bool is_plain =
        is_alphanumeric(c) || std::string_view("-_./~").find(c) != std::string_view::npos;
    target += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return target;
}

std::string page_link(const std::string& model) {
  return fmt::format("[{}]({}.md)", text_cell(model), link_target(model));
}

std::string_view status_mark(Status status) {
  if (status == Status::kPassed) return "✅";
  if (status == Status::kExtracted) return "☑️";
  return status == Status::kFailed || status == Status::kUnexpectedPass ? "❌" : "🟡";
}

std::string text_cell(std::string_view text) { return table_cell(escape_markdown(text)); }

std::string code_cell(std::string_view text) { return table_cell(code_span(text)); }

std::string code_list(const std::vector<std::string>& items, std::string_view separator) {
  std::string list;
  for (const std::string& item : items) {
    if (!list.empty()) list += separator;
    list += code_cell(item);
  }
  return list;
}

std::string section(const std::string& heading, const std::vector<std::string>& blocks) {
  std::string text;
  for (std::string_view block : blocks) {
    while (block.ends_with('\n')) block.remove_suffix(1);
    if (!block.empty()) (text += text.empty() ? "" : "\n\n") += block;
  }
  return text.empty() || heading.empty() ? text : heading + "\n\n" + text;
}

std::string folded(const std::string& summary, const std::string& block) {
  if (block.empty()) return "";
  return section("<details>\n<summary>" + summary + "</summary>", {block, "</details>"});
}

Environment build_of(const RunContext& context) {
  Environment build = context.environment;
  std::erase_if(build, [](const auto& item) { return item.first == "LibTorch"; });
  return build;
}

Table settings_table(const RunContext& context, int num_trials, size_t num_columns) {
  const RunSettings& settings = context.settings;
  const bool runs = settings.last_stage > Stage::kSerialize;
  const bool is_plan = runs && runs_plans(settings);
  const Cell engine =
      !runs                        ? "not run"
      : !settings.executor.empty() ? Cell("an external program", settings.executor)
      : !settings.backend.empty()
          ? Cell("the backend " + code_cell(settings.backend), "the backend " + settings.backend)
          : Cell::code(optimization_name(settings.optimization));
  std::vector<Cell> heads = {"LibTorch", "Runs on", "Device",   "Threads",
                             "Seed",     "Trials",  "Tolerance"};
  heads.resize(num_columns, "");
  Table table(std::string("lllrrrl").substr(0, num_columns), heads);
  table.add({Cell::code(TORCH_VERSION), engine, is_plan ? Cell::code(settings.device.str()) : "",
             std::to_string(settings.threads), std::to_string(settings.seed),
             std::to_string(runs ? num_trials : 0), runs ? tolerance_rule_text(settings) : ""});
  return table;
}

std::string reproduce_section(const Coverage& coverage, const RunContext& context, int num_trials,
                              size_t num_columns, const std::string& more) {
  const std::string& executor = context.settings.executor;
  std::vector<std::string> build;
  for (const auto& [name, value] : build_of(context)) {
    build.push_back(escape_markdown(name) + " " + code_span(value));
  }
  const bool has_build = context.settings.last_stage > Stage::kSerialize && !build.empty();
  return section(
      "## Reproduce",
      {settings_table(context, num_trials, num_columns).markdown(),
       has_build
           ? fmt::format("Details of the build and machine that can change the last bits: {}.",
                         fmt::join(build, ", "))
           : "",
       section("The external program:", {executor.empty() ? "" : code_block(executor)}),
       code_block(reproduce_command(coverage, context), "sh"), more});
}

Cell Cell::text(std::string_view text) { return {text_cell(text), text}; }

Cell Cell::code(std::string_view text) { return {code_cell(text), text}; }

void Table::add(std::vector<Cell> cells) {
  cells.resize(heads_.size(), "");
  rows_.push_back(std::move(cells));
}

Table Table::without_empty_columns() const {
  Table table("", {});
  table.rows_.resize(rows_.size());
  for (size_t column = 0; column < heads_.size(); ++column) {
    const auto is_empty = [&](const auto& row) { return row[column].markdown.empty(); };
    if (std::ranges::all_of(rows_, is_empty)) continue;
    table.alignment_ += alignment_[column];
    table.heads_.push_back(heads_[column]);
    for (size_t i = 0; i < rows_.size(); ++i) table.rows_[i].push_back(rows_[i][column]);
  }
  return table;
}

std::string Table::markdown() const {
  if (rows_.empty()) return "";
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

json_fields::Json Table::json() const {
  const auto shown = [](const std::vector<Cell>& cells) {
    json_fields::Json json = json_fields::Json::array();
    for (const Cell& cell : cells) json.push_back(cell.shown);
    return json;
  };
  json_fields::Json rows = json_fields::Json::array();
  for (const std::vector<Cell>& row : rows_) rows.push_back(shown(row));
  return {{"alignment", alignment_}, {"heads", shown(heads_)}, {"rows", rows}};
}

}  // namespace torch_ir
