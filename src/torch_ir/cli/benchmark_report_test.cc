#include "torch_ir/cli/benchmark_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace torch_ir {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

BenchmarkReport make_report() {
  BenchmarkReport report;
  report.model_name = "Tiny";
  report.optimization = "fast";
  report.device = "cpu";
  report.threads = 1;
  report.rounds = 1500;
  report.weights = "made up";
  report.inputs = "file";
  report.seconds = 0.0034567;
  report.nodes = {{"relu", "aten.relu.default", {"aten::relu"}, 250e-9, 0},
                  {"linear", "aten.linear.default", {"aten::t", "aten::addmm"}, 3e-6, 12'000},
                  {"view", "aten.view.default", {}, 0, 0},
                  {"gelu", "aten.gelu.default", {}, 0, 0},
                  {"stack", "aten.stack.default", {"aten::cat", "aten::cat"}, 0.75e-6, 999}};
  report.not_replayed = {{"relu", "aten.relu.default", "it draws random numbers"},
                         {"relu > mul", "aten.mul.Tensor", "it has a registered op handler"}};
  report.exact_runs = {{"linear", "aten.linear.default", 3}};
  report.memory =
      PlanMemory{.arena = 4096, .returned = 128, .intermediates = 1'234'567, .lower_bound = 64};
  return report;
}

TEST(BenchmarkReportTest, HasOnlyWhatThereIsAndCutsLists) {
  BenchmarkReport report = make_report();
  report.modules = {"a", "b.fc", "", "", "a"};
  report.memory.reset();
  report.not_replayed.resize(25, report.not_replayed[0]);
  const std::string text = to_text(report);
  EXPECT_THAT(text, HasSubstr("  aten.linear.default  b.fc    aten.t, aten.addmm\n"));
  EXPECT_THAT(text, HasSubstr("\n  and 5 more (--json lists all)\nstarted again as exact: "));
  EXPECT_THAT(text, EndsWith("\nmemory: not planned; each run allocates it from LibTorch\n"));
  const auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["nodes"][0]["module"], "b.fc");
  EXPECT_TRUE(json.at("memory").is_null());
  EXPECT_EQ(json.at("not_replayed").size(), 25u);
  report = make_report();
  report.nodes.clear();
  EXPECT_THAT(to_text(report), HasSubstr("\n0 nodes, 0 calls: 0 ns one by one; "));
  EXPECT_TRUE(nlohmann::json::parse(to_json(report)).at("nodes").empty());
}

TEST(BenchmarkReportTest, IsATableWithTheSlowestNodeFirst) {
  EXPECT_EQ(
      to_text(make_report()),
      R"(Tiny: optimization fast, device cpu, 1 thread; medians of 1,500 rounds; weights: made up, inputs: file

    time    share                       bytes     GB/s  node    operator             calls
 3.00 us   75.0 %  ################     12 kB      4.0  linear  aten.linear.default  aten.t, aten.addmm
  750 ns   18.8 %  ####                 999 B      1.3  stack   aten.stack.default   aten.cat x2
  250 ns    6.2 %  #                        -        -  relu    aten.relu.default    aten.relu
    0 ns    0.0 %                           -        -  view    aten.view.default    -
    0 ns    0.0 %                           -        -  gelu    aten.gelu.default    -

5 nodes, 5 calls: 4.00 us one by one; a whole run: 3.46 ms
replayed: 4 of 5 nodes
  not replayed: relu (aten.relu.default): it draws random numbers
  not replayed: relu > mul (aten.mul.Tensor): it has a registered op handler
started again as exact: 3 runs at linear (aten.linear.default), which met NaN, infinities or numbers above 2^50
memory: arena 4.1 kB (lower bound 64 B), allocated by operators 128 B, all intermediate values 1.23 MB
)");
}

// Names come from a file.
TEST(BenchmarkReportTest, NoNameBreaksALineOrFillsTheMemory) {
  BenchmarkReport report = make_report();
  report.model_name = "a\nb";
  report.nodes[0].name = "c\x1b[1md";
  report.nodes[1].name = std::string(10'000, 'x');
  const std::string text = to_text(report);
  EXPECT_THAT(text, HasSubstr("a\\x0ab: "));
  EXPECT_THAT(text, HasSubstr("  c\\x1b[1md "));
  EXPECT_LT(text.size(), 2000u);
}

TEST(BenchmarkReportTest, IsJson) {
  const auto json = nlohmann::ordered_json::parse(to_json(make_report()));
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_THAT(
      keys, testing::ElementsAre("model_name", "optimization", "device", "threads", "rounds",
                                 "reached_time_limit", "weights", "inputs", "seconds",
                                 "node_seconds", "memory", "not_replayed", "exact_runs", "nodes"));
  EXPECT_EQ(json["optimization"], "fast");
  EXPECT_EQ(json["rounds"], 1500);
  EXPECT_EQ(json["seconds"], 0.0034567);
  EXPECT_DOUBLE_EQ(json["node_seconds"].get<double>(), 4e-6);
  EXPECT_EQ(json["memory"], nlohmann::ordered_json::parse(R"({"arena": 4096, "returned": 128,
              "intermediates": 1234567, "lower_bound": 64})"));
  ASSERT_EQ(json["nodes"].size(), 5u);
  EXPECT_EQ(json["nodes"][0], nlohmann::ordered_json::parse(R"({"index": 1, "name": "linear",
              "op_type": "aten.linear.default", "calls": ["aten.t", "aten.addmm"],
              "seconds": 3e-6, "bytes": 12000})"));
  EXPECT_EQ(json["not_replayed"][0], nlohmann::ordered_json::parse(R"({"name": "relu",
              "op_type": "aten.relu.default", "reason": "it draws random numbers"})"));
  EXPECT_EQ(json["exact_runs"][0],
            nlohmann::ordered_json::parse(
                R"({"name": "linear", "op_type": "aten.linear.default", "num_runs": 3})"));
  EXPECT_EQ(json["nodes"][3]["name"], "view");
}

}  // namespace
}  // namespace torch_ir
