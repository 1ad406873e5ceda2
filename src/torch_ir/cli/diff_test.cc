#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "torch_ir/cli/testing/test_support.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using testing::HasSubstr;

class DiffTest : public CliTest {
 protected:
  static IR graph() {
    return TestGraphBuilder("Net")
        .input("x", {4})
        .op("add", "aten.add.Tensor", {"x", "x"}, {4})
        .op("mul", "aten.mul.Tensor", {"add", "x"}, {4})
        .output("mul")
        .build();
  }

  // With one attribute more, and another name.
  std::string changed_graph() const {
    IR ir = graph();
    ir.nodes.at(0).attrs.set("alpha", 2.0);
    ir.nodes.at(1).name = "masked";
    ir.graph_outputs.at(0).producer_node = "masked";
    return graph_file("changed.json", ir);
  }

  const std::string graph_ = graph_file("graph.json", graph());
};

TEST_F(DiffTest, SaysThatThereIsNone) {
  EXPECT_EQ(printed({"diff", graph_, graph_}), "no difference\n");
  EXPECT_EQ(printed({"diff", graph_, graph_, "--quiet"}), "");
}

TEST_F(DiffTest, SaysWhatChanged) {
  const std::string changed = changed_graph();
  const std::string outcome = printed({"diff", graph_, changed}, 1);
  EXPECT_THAT(outcome, HasSubstr("add (aten.add.Tensor): alpha nothing -> 2.0\n"));
  EXPECT_THAT(outcome, HasSubstr("\n1 attribute changed; 1 operator renamed\n"));
  EXPECT_THAT(torch_ir({"diff", graph_, changed, "--all"}).out,
              HasSubstr("\noperator renamed: mul -> masked\n"));
  EXPECT_EQ(printed({"diff", graph_, changed, "--quiet"}, 1), "");
}

TEST_F(DiffTest, TakesOtherModulePathsForTheSameComputation) {
  IR ir = graph();
  ir.nodes[1].module = "scale";
  const std::string named = graph_file("named.json", ir);
  EXPECT_EQ(printed({"diff", graph_, named}), "no difference; 1 module path changed\n");
  EXPECT_THAT(printed({"diff", graph_, named, "--all"}),
              HasSubstr("mul (aten.mul.Tensor): module nothing -> scale\n"));
  const auto json = nlohmann::json::parse(printed({"diff", graph_, named, "--json"}));
  EXPECT_EQ(json["equal"], true);
  EXPECT_EQ(json["modules"][0]["after"], "scale");
}

TEST_F(DiffTest, WritesJson) {
  const auto json =
      nlohmann::json::parse(printed({"diff", graph_, changed_graph(), "--json", "--quiet"}, 1));
  EXPECT_EQ(json["equal"], false);
  EXPECT_EQ(json["summary"], "1 attribute changed; 1 operator renamed");
  EXPECT_EQ(json["changes"], nlohmann::json::parse(R"([{"kind": "attribute changed", "graph": "",
              "name": "add", "op_type": "aten.add.Tensor", "property": "alpha", "before": "",
              "after": "2.0", "text": "add (aten.add.Tensor): alpha nothing -> 2.0"}])"));
  EXPECT_EQ(json["renamed"][0]["before"], "mul");
  EXPECT_EQ(json["renamed"][0]["after"], "masked");
}

}  // namespace
}  // namespace torch_ir
