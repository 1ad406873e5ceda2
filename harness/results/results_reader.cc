#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "harness/results/result_fields.h"
#include "harness/results/results_file.h"
#include "harness/results/results_format.h"
#include "harness/results/run_context.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

using json_fields::Json;

// Its first line, and "[json.exception.type_error.302] type must be string" without the brackets.
std::string reason(const std::exception& error) {
  std::string_view text = error.what();
  if (text.starts_with("[json.exception.")) text.remove_prefix(text.find("] ") + 2);
  return printable(text.substr(0, text.find('\n')));
}

// A value of the file, and its JSON pointer.
class Value {
 public:
  Value(const Json& json, std::string pointer) : json_(json), pointer_(std::move(pointer)) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw SerializationError(pointer_.empty() ? what : pointer_ + ": " + what);
  }

  Value at(const std::string& key) const {
    if (!json_.is_object()) expected("an object");
    const auto member = json_.find(key);
    if (member == json_.end()) fail("'" + key + "' is missing");
    return Value(*member, pointer_ + "/" + key);
  }

  bool has(const std::string& key) const { return json_.is_object() && json_.contains(key); }

  std::vector<Value> items() const {
    if (!json_.is_array()) expected("a list");
    std::vector<Value> values;
    for (const Json& item : json_) {
      values.emplace_back(item, pointer_ + "/" + std::to_string(values.size()));
    }
    return values;
  }

  std::vector<std::pair<std::string, Value>> members() const {
    if (!json_.is_object()) expected("an object");
    std::vector<std::pair<std::string, Value>> values;
    for (const auto& [key, item] : json_.items()) {
      values.emplace_back(key, Value(item, pointer_ + "/" + printable(key)));
    }
    return values;
  }

  bool is_null() const { return json_.is_null(); }

  bool boolean() const {
    if (!json_.is_boolean()) expected("true or false");
    return json_.get<bool>();
  }

  int64_t integer() const {
    if (!json_.is_number_integer()) expected("an integer");
    return json_.get<int64_t>();
  }

  std::string text() const {
    if (!json_.is_string()) expected("a text");
    return json_.get<std::string>();
  }

  // A number, "nan", "inf" or "-inf"; nothing for null, and where a portable file does not tell it.
  std::optional<double> figure() const {
    if (json_.is_null() || json_ == kWithinTolerance) return std::nullopt;
    const bool is_named = json_ == "nan" || json_ == "inf" || json_ == "-inf";
    if (!json_.is_number() && !is_named) expected("a number, \"nan\", \"inf\" or \"-inf\"");
    double value = 0;
    json_fields::read(json_, value);
    return value;
  }

  // As json_fields.h reads it.
  template <class T>
  void read(T& value) const {
    try {
      json_fields::read(json_, value);
    } catch (const std::exception& error) {
      fail(reason(error));
    }
  }

  // The same, where keys that the file does not have yet leave `value` as it is.
  template <class T>
  void read_known(T& value) const {
    if (!json_.is_object()) expected("an object");
    Json all = json_fields::write(value);
    all.update(json_);
    Value(all, pointer_).read(value);
  }

  // What `parse` makes of the text.
  template <class Parse>
  auto name(Parse parse) const {
    const std::string name = text();
    try {
      return parse(name);
    } catch (const Error& error) {
      fail(reason(error));
    }
  }

 private:
  [[noreturn]] void expected(const char* what) const {
    std::string found = json_.type_name();
    if (!json_.is_structured()) found = json_.dump(-1, ' ', true, Json::error_handler_t::replace);
    fail(fmt::format("expected {}, found {}", what, printable(found)));
  }

  const Json& json_;
  std::string pointer_;
};

std::vector<std::string> read_texts(const Value& value) {
  std::vector<std::string> texts;
  for (const Value& item : value.items()) texts.push_back(item.text());
  return texts;
}

Status parse_status(const std::string& name) {
  const auto status = std::ranges::find(kStatuses, name, status_name);
  if (status == kStatuses.end()) throw Error("'" + name + "' is no status");
  return *status;
}

Coverage read_coverage(const Value& value) {
  Coverage coverage{
      .selection = {.models = read_texts(value.at("models")),
                    .categories = read_texts(value.at("categories"))},
      .registry = value.at("registry").boolean(),
      .num_registered = static_cast<size_t>(value.at("num_registered").integer()),
      .num_archives = static_cast<size_t>(value.at("num_archives").integer()),
  };
  const auto add = [&](FileFormat format, const char* key, const Value& origins) {
    for (const Value& origin : origins.items()) {
      coverage.files.push_back({.format = format,
                                .path = origin.at(key).text(),
                                .inputs = origin.at("inputs").text(),
                                .expected = origin.at("expected").text()});
    }
  };
  add(FileFormat::kArchive, "archive", value.at("archives"));
  // Younger than the other keys.
  if (value.has("graphs")) {
    add(FileFormat::kGraph, "graph", value.at("graphs"));
    coverage.num_graphs = static_cast<size_t>(value.at("num_graphs").integer());
  }
  return coverage;
}

DifferenceFigures read_differences(const Value& value) {
  return {.max_diff = value.at("max_diff").figure(),
          .smallest_passing_tolerance = value.at("smallest_passing_tolerance").figure()};
}

ModelRecord read_model(const Value& value) {
  ModelRecord model{.name = value.at("name").text(),
                    .categories = read_texts(value.at("categories")),
                    .is_imported = !value.at("origin").is_null(),
                    .status = value.at("status").name(parse_status),
                    .stage = value.at("stage").name(parse_stage)};
  if (const Value failure = value.at("failure"); !failure.is_null()) {
    model.failure = failure.at("kind").name(parse_failure_kind);
  }
  if (const Value fingerprint = value.at("fingerprint"); !fingerprint.is_null()) {
    model.graph = GraphFigures{.nodes = value.at("nodes").integer(),
                               .edges = value.at("edges").integer(),
                               .weights = value.at("weights").integer(),
                               .parameters = value.at("parameters").integer(),
                               .fingerprint = fingerprint.text()};
  }
  for (const Value& trial : value.at("trials").items()) {
    model.trials.push_back(
        {.name = trial.at("name").text(), .differences = read_differences(trial)});
  }
  return model;
}

void check_format(const Value& value) {
  const Value format = value.at("format");
  if (const std::string name = format.text(); name != kResultsFormat) {
    format.fail(fmt::format("expected '{}', found '{}'", kResultsFormat, printable(name)));
  }
  const Value version = value.at("version");
  if (const int64_t number = version.integer(); number != kResultsVersion) {
    version.fail(
        fmt::format("the file has version {}, and this program reads version {}: "
                    "make it again with this program",
                    number, kResultsVersion));
  }
}

RunResults read_run(const Value& value) {
  check_format(value);
  RunResults run;
  value.at("settings").read_known(run.settings);
  run.coverage = read_coverage(value.at("coverage"));
  for (const auto& [name, item] : value.at("environment").members()) {
    run.environment.emplace_back(name, item.text());
  }
  std::unordered_set<std::string> names;
  for (const Value& item : value.at("models").items()) {
    run.models.push_back(read_model(item));
    const std::string& name = run.models.back().name;
    if (!names.insert(name).second) {
      item.at("name").fail("there are two models '" + printable(name) + "'");
    }
  }
  return run;
}

}  // namespace

RunResults read_results(const std::string& path) {
  const std::string text = read_file(path);
  try {
    return read_run(Value(Json::parse(text), ""));
  } catch (const Json::parse_error& error) {
    throw SerializationError(printable(path) + ": this is no JSON: " + reason(error));
  } catch (const SerializationError& error) {
    throw SerializationError(printable(path) + ": " + error.what());
  }
}

}  // namespace torch_ir
