#include "harness/results/result_fields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace torch_ir {
namespace {

// Returns `value` as another process reads it.
template <class T>
T sent(const T& value) {
  T read;
  json_fields::read(json_fields::Json::parse(json_fields::write(value).dump()), read);
  return read;
}

TEST(ResultFieldsTest, FiguresComeBackAsTheyWere) {
  Trial trial;
  trial.verification.error_message = "output 0";
  TensorComparison& comparison = trial.verification.output_details.emplace_back().comparison;
  trial.verification.max_diff = comparison.max_diff = std::numeric_limits<double>::infinity();
  trial.verification.mean_diff = std::numeric_limits<double>::quiet_NaN();
  comparison.mean_diff = 1.0 / 3;
  comparison.max_ulp_diff = std::numeric_limits<uint64_t>::max();
  const VerificationReport read = sent(trial).verification;
  EXPECT_EQ(read.max_diff, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(read.mean_diff));
  EXPECT_EQ(read.output_details.at(0).comparison.mean_diff, 1.0 / 3);
  EXPECT_EQ(read.output_details.at(0).comparison.max_ulp_diff, comparison.max_ulp_diff);
}

TEST(ResultFieldsTest, StagesComeBackAsTheyWere) {
  for (size_t passed = 0; passed <= kStages.size(); ++passed) {
    const Result result{.name = "Tiny", .num_passed_stages = passed};
    EXPECT_EQ(sent(result).num_passed_stages, passed);
  }
}

TEST(ResultFieldsTest, SettingsComeBackAsTheyWere) {
  RunSettings settings;
  settings.seed = std::numeric_limits<uint64_t>::max();
  settings.tolerance = {.fixed = {.rtol = 0.1, .atol = 1e-300}};
  settings.tolerance.outputs = {{2, {.rtol = 0.5, .atol = 0}}};
  settings.optimization = Optimization::kFast;
  settings.device = c10::Device(c10::kCUDA, 1);
  settings.executor = "run {ir}";
  const RunSettings read = sent(settings);
  EXPECT_EQ(read.seed, settings.seed);
  EXPECT_EQ(read.tolerance, settings.tolerance);
  EXPECT_EQ(read.optimization, Optimization::kFast);
  EXPECT_EQ(read.device, settings.device);
  EXPECT_EQ(read.executor, "run {ir}");
}

TEST(ResultFieldsTest, SourcesComeBackAsTheyWere) {
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
