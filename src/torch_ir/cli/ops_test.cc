#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "torch_ir/cli/testing/test_support.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using testing::HasSubstr;
using testing::Not;

using OpsTest = CliTest;

TEST_F(OpsTest, PrintsJson) {
  EXPECT_EQ(nlohmann::json::parse(printed({"ops", graph_file("a.json", masked_linear_graph()),
                                           graph_file("b.json", masked_linear_graph()), "--json"})),
            nlohmann::json::parse(R"({"operators": [
    {"op_type": "aten.linear.default", "calls": 2, "runs": true,
     "runs_as": "composite of other operators", "replayed": "yes"},
    {"op_type": "aten.mul.Tensor", "calls": 2, "runs": true, "runs_as": "kernel for CPU",
     "replayed": "yes"}
  ]})"));
}

TEST_F(OpsTest, SaysWhichGraphsABackendCanRun) {
  const std::string masked = graph_file("masked.json", masked_linear_graph());
  const std::string gather = graph_file("gather.json", gather_with_index_graph());
  const std::string list = file("chip.txt", "aten.linear.default\naten.mul.*  # products\n");
  const std::string ops = printed({"ops", masked, gather, "--supported", list});
  EXPECT_THAT(ops, HasSubstr(masked + "  yes   2 of 2           nothing\n"));
  EXPECT_THAT(ops, HasSubstr(gather + "  no    1 of 2           aten.index.Tensor\n"));
  EXPECT_THAT(ops, HasSubstr("1 of 2 models run on the operators of " + list + ".\n"));
  EXPECT_THAT(ops, HasSubstr("\naten.index.Tensor  1       1        1\n"));
  EXPECT_THAT(ops, Not(HasSubstr("runs as")));
}

TEST_F(OpsTest, SaysItInJsonToo) {
  const std::string graph = graph_file("masked.json", masked_linear_graph());
  const std::string list = file("chip.txt", "aten.linear\n");
  const auto json = nlohmann::json::parse(printed({"ops", graph, "--supported", list, "--json"}));
  EXPECT_EQ(json.at("num_running"), 0);
  EXPECT_EQ(json.at("models").at(0).at("name"), graph);
  EXPECT_EQ(json.at("models").at(0).at("missing"), nlohmann::json({{"aten.mul.Tensor", 1}}));
  EXPECT_EQ(json.at("missing_operators").at(0).at("unlocks"), 1);
}

TEST_F(OpsTest, RefusesAListThatIsNone) {
  const std::string graph = graph_file("masked.json", masked_linear_graph());
  const std::string list = file("chip.txt", "aten.linear\n\nmul\n");
  expect_failed(
      torch_ir({"ops", graph, "--supported", list}),
      testing::StartsWith("torch-ir: " + list + ":3: invalid operator name 'mul'; write "));
  expect_refused(torch_ir({"ops", graph, "--supported", path("none")}),
                 "cannot open '" + path("none") + "': No such file or directory");
  expect_failed(torch_ir({"ops", graph, "--supported", ""}),
                HasSubstr("--supported: missing file name"));
}

}  // namespace
}  // namespace torch_ir
