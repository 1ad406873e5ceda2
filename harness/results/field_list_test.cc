// A field in a list appears wherever the struct is written: in results.json, in its schema, in the
// messages of workers, and so in index.html, which holds results.json.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "harness/results/result_fields.h"
#include "harness/results/results_file.h"
#include "harness/results/testing/schema_problem.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

using nlohmann::json;

template <class T>
void fill(T& value);

// Gives each field of a list a value.
struct Filler {
  static constexpr bool kReads = true;

  void operator()(const char* /*key*/, auto& value) const { fill(value); }
  void required(const char* /*key*/, auto& value) const { fill(value); }
  void nullable(const char* /*key*/, auto& value) const { fill(value); }
  void unless_empty(const char* /*key*/, auto& value) const { fill(value); }
};

template <class T>
concept Optional = requires(T& value) { value.has_value(); };

template <class T>
void fill(T& value) {
  if constexpr (json_fields::Struct<T>) {
    fields(Filler(), value);
  } else if constexpr (Optional<T>) {
    fill(value.emplace());
  } else if constexpr (json_fields::Named<T> || json_fields::Variant<T>) {
    return;  // A value that is written by name keeps its default.
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = "0123456789abcdef0123456789abcdef01234567";
  } else if constexpr (std::is_arithmetic_v<T>) {
    value = 1;
  } else if constexpr (json_fields::Map<T>) {
    fill(value[1]);
  } else if constexpr (json_fields::Entries<T>) {
    auto& [key, item] = value.emplace_back();
    fill(key);
    fill(item);
  } else if constexpr (requires { value.emplace_back(); }) {
    fill(value.emplace_back());
  } else {
    for (auto& item : value) fill(item);
  }
}

template <class T>
T filled() {
  T value;
  fill(value);
  return value;
}

RunRecord filled_run() {
  RunRecord run{
      .coverage = filled<Coverage>(), .results = {filled<Result>()}, .cases = {filled<Result>()}};
  run.context.settings = filled<RunSettings>();
  run.context.environment = {{"LibTorch", "2.13.0"}};
  run.results[0].call.reset();
  run.results[0].unsupported.reset();
  return run;
}

TEST(FieldListTest, EachFieldFitsTheSchema) {
  const BaselineComparison baseline{
      .notes = {"LibTorch: 2.12.0 -> 2.13.0"},
      .models = {{.model = "a",
                  .changes = {{.what = "graph"},
                              {.what = "status", .before = std::string("passed")},
                              {.what = "nodes", .before = int64_t{1}, .now = int64_t{2}},
                              {.what = "max abs. error", .before = NAN, .now = 0.5}}}}};
  EXPECT_EQ(schema_problem(json::parse(results_to_json(filled_run(), &baseline))), "");
  EXPECT_EQ(schema_problem(json::parse(results_to_json({}))), "");
}

TEST(FieldListTest, EachFieldIsReadBack) {
  const std::string path = ::testing::TempDir() + "filled.json";
  const std::string text = results_to_json(filled_run());
  write_file(path, text);
  EXPECT_EQ(results_to_json(read_run_record(path)), text);
}

// Returns `value` as another process reads it.
template <class T>
T sent(const T& value) {
  T read;
  json_fields::read(json_fields::Json::parse(json_fields::write(value).dump()), read);
  return read;
}

TEST(FieldListTest, EachFieldIsInTheMessagesOfWorkers) {
  const Result result = filled_run().results[0];
  const json_fields::Json message = json_fields::write(result);
  EXPECT_EQ(message["current_trial"], 1);
  EXPECT_EQ(json_fields::write(sent(result)), message);
}

// Infinities and NaNs are in the tests of results.json.
TEST(FieldListTest, FiguresAndStagesComeBackAsTheyWere) {
  Result result{.name = "Tiny"};
  TensorComparison& comparison =
      result.trials.emplace_back().verification.output_details.emplace_back().comparison;
  comparison.mean_diff = 1.0 / 3;
  comparison.max_ulp_diff = std::numeric_limits<uint64_t>::max();
  for (size_t passed = 0; passed <= kStages.size(); ++passed) {
    result.num_passed_stages = passed;
    EXPECT_EQ(sent(result).num_passed_stages, passed);
  }
  const Result read = sent(result);
  const TensorComparison& figures = read.trials.at(0).verification.output_details.at(0).comparison;
  EXPECT_EQ(figures.mean_diff, 1.0 / 3);
  EXPECT_EQ(figures.max_ulp_diff, comparison.max_ulp_diff);
}

TEST(FieldListTest, SettingsComeBackAsTheyWere) {
  RunSettings settings;
  settings.seed = std::numeric_limits<uint64_t>::max();
  settings.tolerance = {.fixed = {.rtol = 0.1, .atol = 1e-300}};
  settings.tolerance.outputs = {{2, {.rtol = 0.5, .atol = 0}}};
  settings.optimization = Optimization::kFast;
  settings.device = c10::Device(c10::kCUDA, 1);
  const RunSettings read = sent(settings);
  EXPECT_EQ(read.seed, settings.seed);
  EXPECT_EQ(read.tolerance, settings.tolerance);
  EXPECT_EQ(read.optimization, Optimization::kFast);
  EXPECT_EQ(read.device, settings.device);
}

TEST(FieldListTest, SourcesComeBackAsTheyWere) {
  const ModelFiles graph{.format = FileFormat::kGraph,
                         .name = "a",
                         .path = "a/ir.json",
                         .weights = "w",
                         .inputs = {"x"},
                         .expected = {"y"}};
  EXPECT_EQ(std::get<ModelFiles>(sent(ModelSource(graph))), graph);
  EXPECT_EQ(std::get<std::string>(sent(ModelSource("Tiny"))), "Tiny");
  const CaseSource call{.info = {.name = "aten.abs.default/float32/usual"}, .folder = "f"};
  const auto read = std::get<CaseSource>(sent(ModelSource(call)));
  EXPECT_EQ(read.info.name, call.info.name);
  EXPECT_EQ(read.folder, "f");
}

}  // namespace
}  // namespace torch_ir
