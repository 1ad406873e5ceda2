// reports/reference must match the harness's output.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/regression/reference_pages.h"
#include "torch_ir/ir/json.h"

namespace torch_ir {
namespace {

constexpr const char* kHint =
    "reports/reference differs from the harness's output; if the new output is right, run: bazel "
    "run //reports:update";

std::vector<std::string> names(const Files& files) {
  std::vector<std::string> result;
  for (const auto& [name, content] : files) result.push_back(name);
  return result;
}

class ReferencePagesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string scratch = ::testing::TempDir() + "reference_test";
    std::filesystem::remove_all(scratch);
    run_ = make_reference_pages(reference_models("reports/reference"), scratch);
  }

  static IR graph_of(const Result& result) {
    return deserialize_ir(run_.pages.at("ir/" + result.name + ".json"));
  }

  static inline ReferencePages run_;
};

TEST_F(ReferencePagesTest, AreWhatTheHarnessWritesNow) {
  const Files expected = read_pages("reports/reference");
  ASSERT_EQ(names(run_.pages), names(expected)) << kHint;
  for (const auto& [name, content] : expected) {
    const auto difference = name.ends_with(".json") ? graph_difference : page_difference;
    EXPECT_EQ(difference(content, run_.pages.at(name)), "") << name << ": " << kHint;
  }
}

// For inputs of more than two dimensions, torch::nn::Linear calls matmul and add_, and the graph
// calls linear. Only there may the two differ in the last bits.
bool adds_bias_after_matmul(const IR& graph) {
  return std::ranges::any_of(graph.nodes, [](const OpNode& node) {
    return node.op_type == "aten.linear.default" && node.inputs[0].shape.size() > 2;
  });
}

TEST_F(ReferencePagesTest, ModelsDifferOnlyWhereTheyCallOtherOperatorsThanTheirGraphs) {
  EXPECT_FALSE(run_.results.empty());
  for (const Result& result : run_.results) {
    const double limit = adds_bias_after_matmul(graph_of(result)) ? 1e-6 : 0;
    EXPECT_LE(result.worst_trial()->verification.max_diff, limit) << result.name;
  }
}

// The texts of a picture's elements of one kind, in drawing order.
std::vector<std::string> contents(const std::string& svg, const std::string& tag) {
  std::vector<std::string> texts;
  const std::string open = "<" + tag;
  const std::string close = "</" + tag + ">";
  for (size_t at = svg.find(open); at != std::string::npos; at = svg.find(open, at)) {
    at = svg.find('>', at) + 1;
    texts.push_back(svg.substr(at, svg.find(close, at) - at));
  }
  return texts;
}

TEST_F(ReferencePagesTest, PicturesShowTheGraphs) {
  const Files pictures = read_pictures("reports/reference");
  EXPECT_EQ(pictures.size(), run_.results.size()) << kHint;
  for (const Result& result : run_.results) {
    const auto picture = pictures.find("svg/" + result.name + ".svg");
    ASSERT_NE(picture, pictures.end()) << result.name << ": " << kHint;
    const IR graph = graph_of(result);
    for (const OpNode& node : graph.nodes) {
      EXPECT_THAT(picture->second, ::testing::HasSubstr("xlink:title=\"" + node.name + "\""))
          << result.name << ": " << kHint;
    }
    EXPECT_THAT(
        contents(picture->second, "text"),
        ::testing::Contains("Output" + std::string(graph.graph_outputs.size() == 1
                                                       ? ""
                                                       : ": " + graph.graph_outputs[0].name)));
  }
}

}  // namespace
}  // namespace torch_ir
