#include "harness/results/results_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "harness/results/result_fields.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

using json_fields::Json;
using json_fields::Problem;
using json_fields::write;

constexpr std::string_view kFormat = "torch-ir results";
// Raise it when a key is removed or changes its meaning. Readers ignore unknown keys, so new keys
// are fine.
constexpr int64_t kResultsVersion = 3;

// Escapes all but ASCII; invalid UTF-8 becomes U+FFFD.
std::string scalar_text(const Json& value) {
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

bool is_one_line(const Json& value) {
  return value.is_array() &&
         std::ranges::none_of(value, [](const Json& item) { return item.is_structured(); });
}

// Indents by two spaces, with lists of plain values on one line.
void append(const Json& value, const std::string& indent, std::string& text) {
  if (!value.is_structured() || value.empty()) {
    text += scalar_text(value);
    return;
  }
  const bool one_line = is_one_line(value);
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

}  // namespace

Json write_result(const Result& result, const RunContext& context) {
  Json json = write(result);
  json.erase("is_searching");
  json.erase("current_trial");
  json.erase("current_trial_name");
  if (!context.timings) {
    json.erase("seconds");
    if (result.executor) {
      Json& executor = json["executor"];
      executor.erase("seconds");
      if (executor.contains("nodes")) {
        for (Json& node : executor["nodes"]) node.erase("seconds");
      }
    }
  }
  return json;
}

namespace {

// One at a time, because all of them may not fit into memory.
void put_results(const std::vector<Result>& results, const RunContext& context,
                 const PutText& put) {
  std::string_view separator = "[";
  for (const Result& result : results) {
    std::string text = fmt::format("{}\n    ", separator);
    separator = ",";
    append(write_result(result, context), "    ", text);
    put(text);
  }
  put(results.empty() ? "[]" : "\n  ]");
}

void check_format(const json_fields::Reader& visit) {
  std::string format;
  int64_t version = 0;
  visit.required("format", format);
  if (format != kFormat) {
    throw Problem{fmt::format("expected '{}', found '{}'", kFormat, printable(format)), "/format"};
  }
  visit.required("version", version);
  if (version != kResultsVersion) {
    throw Problem{fmt::format("unsupported version {}; this program reads version {}, so repeat "
                              "that run with it",
                              version, kResultsVersion),
                  "/version"};
  }
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
  const json_fields::Reader visit{json};
  check_format(visit);
  RunRecord run;
  visit.required("words", run.context.words);
  ComparedSettings settings{run.context.settings};
  visit.required("settings", settings);
  visit.required("coverage", run.coverage);
  visit.required("environment", run.context.environment);
  visit.required("models", run.results);
  visit.required("cases", run.cases);
  check_names("models", run.results);
  check_names("cases", run.cases);
  return run;
}

}  // namespace

void write_results(const RunRecord& run, const BaselineComparison* baseline, const PutText& put) {
  std::string command = reproduce_command(run.coverage, run.context);
  while (command.ends_with('\n')) command.pop_back();
  RunSettings settings = run.context.settings;
  Json json = {{"format", kFormat},
               {"version", kResultsVersion},
               {"command", command},
               {"words", reproduce_words(run.coverage, run.context)},
               {"environment", write(run.context.environment)},
               {"settings", write(ComparedSettings{settings})},
               {"coverage", write(run.coverage)},
               {"models", Json::array()},
               {"cases", Json::array()}};
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
    if (holds_results) put_results(key == "models" ? run.results : run.cases, run.context, put);
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
