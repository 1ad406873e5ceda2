#include "harness/results/results_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "harness/results/result_fields.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

using json_fields::Json;
using json_fields::Problem;
using json_fields::write;

// Escapes all but ASCII; invalid UTF-8 becomes U+FFFD.
std::string scalar_text(const Json& value) {
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

// Indents by two spaces, with lists of plain values on one line.
void append(const Json& value, const std::string& indent, std::string& text) {
  if (!value.is_structured() || value.empty()) {
    text += scalar_text(value);
    return;
  }
  const bool one_line = value.is_array() && std::ranges::none_of(value, &Json::is_structured);
  const std::string deeper = indent + "  ";
  std::string_view separator = "";
  text += value.is_object() ? '{' : '[';
  for (const auto& [key, item] : value.items()) {
    text += separator;
    separator = one_line ? ", " : ",";
    if (!one_line) text += '\n' + deeper;
    if (value.is_object()) text += scalar_text(key) + ": ";
    append(item, deeper, text);
  }
  if (!one_line) text += '\n' + indent;
  text += value.is_object() ? '}' : ']';
}

// One at a time, because all of them may not fit into memory.
void put_results(const std::vector<Result>& results, const PutText& put) {
  std::string_view separator = "[";
  for (const Result& result : results) {
    std::string text = fmt::format("{}\n    ", separator);
    separator = ",";
    append(write_result(result), "    ", text);
    put(text);
  }
  put(results.empty() ? "[]" : "\n  ]");
}

void check_names(const char* key, const std::vector<Result>& results) {
  std::unordered_set<std::string> names;
  for (size_t i = 0; i < results.size(); ++i) {
    if (names.insert(results[i].name).second) continue;
    throw Problem{"duplicate name '" + printable(results[i].name) + "'",
                  fmt::format("/{}/{}/name", key, i)};
  }
}

RunRecord read_run(const Json& json) {
  RunRecord run;
  json_fields::read(json, run);
  check_names("models", run.results);
  check_names("cases", run.cases);
  return run;
}

}  // namespace

Json write_result(const Result& result) {
  Json json = write(result);
  for (const char* key : {"is_searching", "current_trial", "current_trial_name"}) json.erase(key);
  return json;
}

void write_results(const RunRecord& run, const BaselineComparison* baseline, const PutText& put) {
  Json json = write(RunRecord{.coverage = run.coverage, .context = run.context});
  if (baseline != nullptr) {
    json["notes"] = write(baseline->notes);
    json["changes"] = Json::array();
    for (const ModelChange& model : baseline->models) {
      for (const FigureChange& change : model.changes) {
        json["changes"].push_back({{"name", model.model}});
        json["changes"].back().update(write(change));
      }
    }
  }
  std::string_view separator = "{";
  for (const auto& [key, value] : json.items()) {
    std::string text = fmt::format("{}\n  {}: ", separator, scalar_text(key));
    separator = ",";
    const bool holds_results = key == "models" || key == "cases";
    if (!holds_results) append(value, "  ", text);
    put(text);
    if (holds_results) put_results(key == "models" ? run.results : run.cases, put);
  }
  put("\n}\n");
}

std::string results_to_json(const RunRecord& run, const BaselineComparison* baseline) {
  std::string text;
  write_results(run, baseline, [&](std::string_view more) { text += more; });
  return text;
}

RunRecord read_run_record(const std::string& path) {
  const std::string text = read_file(path);
  try {
    return json_fields::parse(text, read_run);
  } catch (const SerializationError& error) {
    throw SerializationError(printable(path) + ": " + error.what());
  }
}

}  // namespace torch_ir
