#include <ATen/Parallel.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "torch_ir/cli/testing/test_support.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class BenchmarkTest : public CliTest {
 protected:
  ~BenchmarkTest() override { at::set_num_threads(num_threads_); }

  static nlohmann::json json_of(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "benchmark");
    // Quiet, since a slow machine reports its progress.
    arguments.insert(arguments.end(), {"--json", "--quiet"});
    return nlohmann::json::parse(printed(arguments));
  }

  const MaskedLinear model_ = masked_linear();

 private:
  const int num_threads_ = at::get_num_threads();
};

TEST_F(BenchmarkTest, PrintsItsReport) {
  const std::string out = printed({"benchmark", model_.graph, "--weights", model_.weights,
                                   "--inputs", model_.inputs, "--threads", "1"});
  EXPECT_THAT(out, testing::ContainsRegex(
                       "^MaskedLinear: optimization exact, device cpu, 1 thread; medians of "
                       "[0-9,]+ rounds; weights: file, inputs: file\n"));
  EXPECT_THAT(out, HasSubstr("  linear  aten.linear.default "));
  EXPECT_THAT(out, HasSubstr("  mul     aten.mul.Tensor "));
  EXPECT_THAT(out, HasSubstr("\nreplayed: 2 of 2 nodes\nmemory: arena "));
}

TEST_F(BenchmarkTest, AddsNoRoundsAfterTheTimeLimit) {
  const std::vector<std::string> arguments = {"benchmark", model_.graph, "--time-limit", "1e-9"};
  EXPECT_THAT(printed(arguments), HasSubstr("; medians of 1 round, ended by the time limit;"));
  const auto json = json_of({model_.graph, "--time-limit", "1e-9"});
  EXPECT_EQ(json["rounds"], 1);
  EXPECT_EQ(json["reached_time_limit"], true);
  expect_refused(torch_ir({"benchmark", model_.graph, "--time-limit", "0"}),
                 "--time-limit: invalid time limit '0'; expected a positive number of seconds "
                 "(see 'torch-ir benchmark --help')");
}

TEST_F(BenchmarkTest, SaysWhatRanAndMakesUpWhatIsNotGiven) {
  const auto json = json_of({model_.graph});
  EXPECT_GE(json["rounds"], 15);
  EXPECT_EQ(json["reached_time_limit"], false);
  EXPECT_EQ(json["weights"], "made up");
  EXPECT_EQ(json["inputs"], "made up");
  EXPECT_EQ(json["optimization"], "exact");
  EXPECT_EQ(json["device"], "cpu");
  const auto other =
      json_of({model_.graph, "--optimization", "fast", "--device", "cpu", "--threads", "2"});
  EXPECT_EQ(other["optimization"], "fast");
  EXPECT_EQ(other["device"], "cpu");
  EXPECT_EQ(other["threads"], 2);
}

// Lists each node once; the times of the nodes add up to the sum.
TEST_F(BenchmarkTest, TimesAllNodesOfTheGraph) {
  const IR ir = deep_resnet_graph();
  const std::string graph = graph_file("resnet.json", ir);
  const auto json = json_of({graph});
  ASSERT_EQ(json["nodes"].size(), ir.nodes.size());
  double sum = 0;
  double last = json["nodes"][0]["seconds"];
  std::set<size_t> indices;
  for (const auto& node : json["nodes"]) {
    const size_t index = node["index"];
    indices.insert(index);
    EXPECT_EQ(node["name"], ir.nodes.at(index).name);
    EXPECT_EQ(node["op_type"], ir.nodes.at(index).op_type);
    EXPECT_GE(node["seconds"], 0);
    EXPECT_LE(node["seconds"], last);
    EXPECT_GE(node["bytes"], 0);
    last = node["seconds"];
    sum += last;
  }
  EXPECT_EQ(indices.size(), ir.nodes.size());
  EXPECT_GT(sum, 0);
  EXPECT_NEAR(json["node_seconds"], sum, 1e-12);
  EXPECT_GT(json["seconds"], 0);
  EXPECT_GE(json["memory"]["arena"], json["memory"]["lower_bound"]);
  EXPECT_GE(json["memory"]["intermediates"], json["memory"]["lower_bound"]);
  // A fused call is listed with the node that makes it; the other nodes are listed without calls.
  const auto fast = json_of({graph, "--optimization", "fast"});
  const auto num_calling = [](const nlohmann::json& report) {
    return std::ranges::count_if(report["nodes"],
                                 [](const auto& node) { return !node["calls"].empty(); });
  };
  EXPECT_EQ(fast["nodes"].size(), ir.nodes.size());
  EXPECT_LT(num_calling(fast), num_calling(json));
}

TEST_F(BenchmarkTest, TakesTheExamplesOfAnArchive) {
  const auto json = json_of({archive("dynamic.pt2")});
  EXPECT_EQ(json["weights"], "archive");
  EXPECT_EQ(json["inputs"], "archive");
}

TEST_F(BenchmarkTest, WantsAllOfTheWeightsOrNone) {
  const std::string weights =
      tensor_file("half.safetensors", {{"linear.weight", at::zeros({4, 4})}});
  expect_failed(torch_ir({"benchmark", model_.graph, "--weights", weights}),
                StartsWith("torch-ir: " + model_.graph + " with " + weights +
                           ": Missing weight 'linear.bias' (float32 [4]), read by node 'linear'."));
}

TEST_F(BenchmarkTest, RefusesWhatIsNoCount) {
  for (const std::string value : {"0", "-1", "many", "99999999999"}) {
    expect_refused(
        torch_ir({"benchmark", model_.graph, "--threads", value}),
        "--threads: invalid count '" + value +
            "'; expected a whole number from 1 to 1024 (see 'torch-ir benchmark --help')");
  }
}

}  // namespace
}  // namespace torch_ir
