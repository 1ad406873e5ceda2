#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "torch_ir/cli/testing/test_support.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

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

}  // namespace
}  // namespace torch_ir
